import { memoize } from '../../base/memoize.ts';
import type { AnsweredResult, FailedTurn, TurnResult } from '../../store/records/turn-record.ts';

/** Answered turns, in the order of the plan. */
export type Turns = readonly AnsweredResult[];

export interface RunTurns {
  readonly answered: Turns;
  readonly failed: readonly FailedTurn[];
}

/** @param turns of a run, in the order of the plan */
export function byState(turns: readonly TurnResult[]): RunTurns {
  return {
    answered: turns.filter((turn) => turn.state === 'answered'),
    failed: turns.filter((turn) => turn.state === 'failed'),
  };
}

/** Memoized, since most tables read the whole run arm by arm. */
const groupByArm = memoize((turns: Turns) => Map.groupBy(turns, (turn): string | undefined => turn.arm));

/** @param turns a list that is not changed later */
export function turnsOfArm(turns: Turns, arm: string | undefined): Turns {
  return groupByArm(turns).get(arm) ?? [];
}

/** Returns a function that finds another arm's last turn on the same item in the same repeat. */
export function counterpartIn(others: Turns): (turn: AnsweredResult) => AnsweredResult | undefined {
  const byItem = Map.groupBy(others, ({ itemId }) => itemId);
  return ({ itemId, repeat }) => byItem.get(itemId)?.findLast((other) => other.repeat === repeat);
}
