import type { AnsweredResult, FailedTurn } from '../../store/records/turn-record.ts';

/** Answered turns, in the order of the plan. */
export type Turns = readonly AnsweredResult[];

export interface RunTurns {
  readonly answered: Turns;
  readonly failed: readonly FailedTurn[];
}

/** Memoizes the grouping by arm of each list, since most tables read the whole run arm by arm. */
const groupedLists = new WeakMap<Turns, ReadonlyMap<string | undefined, Turns>>();

export function turnsOfArm(turns: Turns, arm: string | undefined): Turns {
  const known = groupedLists.get(turns);
  const byArm = known ?? Map.groupBy(turns, (turn): string | undefined => turn.arm);
  if (known === undefined) groupedLists.set(turns, byArm);
  return byArm.get(arm) ?? [];
}

/** Returns a function that finds another arm's last turn on the same item in the same repeat. */
export function counterpartIn(others: Turns): (turn: AnsweredResult) => AnsweredResult | undefined {
  const byItem = Map.groupBy(others, ({ itemId }) => itemId);
  return ({ itemId, repeat }) => byItem.get(itemId)?.findLast((other) => other.repeat === repeat);
}
