import type { AnsweredResult, FailedTurn } from '../../store/records/turn-record.ts';

/** Answered turns, in the order of the plan. */
export type Turns = readonly AnsweredResult[];

export interface TurnsOfRun {
  readonly answered: Turns;
  readonly failed: readonly FailedTurn[];
}

export function turnsOfArm(turns: Turns, arm: string | undefined): Turns {
  return turns.filter((turn) => turn.arm === arm);
}

export function counterpartIn(others: Turns): (turn: AnsweredResult) => AnsweredResult | undefined {
  const byItem = Map.groupBy(others, ({ itemId }) => itemId);
  return ({ itemId, repeat }) => byItem.get(itemId)?.findLast((other) => other.repeat === repeat);
}
