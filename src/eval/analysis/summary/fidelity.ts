import type { ArmResults, BreakdownPart } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns } from '../arm-turns.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { pairItems, perItem } from '../statistics/observations.ts';
import { shareGain, tally } from './paired-quality.ts';

function isRight({ scores: { taskSuccess } }: AnsweredResult): number | null {
  return taskSuccess === null ? null : Number(taskSuccess === 1);
}

/**
 * Fidelity of an arm to the text of the baseline: the share of identical answers, and the items that flip from right to wrong
 * or from wrong to right. Undefined without a common item that is judged.
 */
export function fidelityTo(baseline: Turns, turns: Turns): ArmResults['fidelity'] {
  const counterpart = counterpartIn(baseline);
  const sameAnswer = estimateShare(
    perItem(turns, (turn) => {
      const other = counterpart(turn);
      return other === undefined ? null : Number(other.answer.text === turn.answer.text);
    }),
  );
  const flips = pairItems(perItem(turns, isRight), perItem(baseline, isRight));
  if (sameAnswer === null || flips.length === 0) return undefined;
  const { n, wins, losses } = tally(flips, 'higher');
  return { against: baseline[0]!.arm, sameAnswer, n, lost: losses, won: wins };
}

/** Task success of an arm less that of the baseline on the same items; undefined without an item that is judged. */
export function successDifference(baseline: Turns, turns: Turns): BreakdownPart['difference'] {
  const success = (some: Turns) => perItem(some, ({ scores }) => scores.taskSuccess);
  const pairs = pairItems(success(turns), success(baseline));
  if (pairs.length === 0) return undefined;
  const { n, users, wins, losses } = tally(pairs, 'higher');
  return { against: baseline[0]!.arm, ...shareGain(pairs), n, users, wins, losses };
}
