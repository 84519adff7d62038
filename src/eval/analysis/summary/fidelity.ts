import { onceFor } from '../../../base/once-for.ts';
import type { ArmResults, BreakdownPart } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { numberField } from '../turn-field.ts';
import { type Measure, paired, perItem } from '../statistics/per-item.ts';
import { partnersOf } from '../partners.ts';
import { shareGain } from './paired-quality.ts';
import { tally } from './tally.ts';

const success = numberField('scores', 'taskSuccess');

/** A baseline is compared with many parts of other arms. */
const successesOfBaseline = onceFor((turns: readonly AnsweredResult[]) => perItem(turns, success));

const isRight: Measure<AnsweredResult> = {
  of: ({ scores: { taskSuccess } }) => (taskSuccess === null ? null : Number(taskSuccess === 1)),
};

/**
 * Fidelity of an arm to the text of the baseline: answers that are the same to the letter, and items that flip, right to wrong
 * and wrong to right. Undefined without a common item that is judged.
 */
export function fidelityTo(
  baseline: readonly AnsweredResult[],
  turns: readonly AnsweredResult[],
): ArmResults['fidelity'] {
  const others = partnersOf(turns, baseline);
  const same = perItem(turns, (turn, place) => {
    const other = others.at(place);
    return other === undefined ? null : Number(other.answer.text === turn.answer.text);
  });
  const sameAnswer = estimateShare(same);
  const flips = paired(perItem(turns, isRight), perItem(baseline, isRight));
  if (sameAnswer === null || flips.a.length === 0) return undefined;
  const { n, wins, losses } = tally(flips, 'higher');
  return { against: baseline[0]!.arm, sameAnswer, n, lost: losses, won: wins };
}

/** Task success of an arm less that of the baseline on the same items; undefined without one that is judged. */
export function successDifference(
  baseline: readonly AnsweredResult[],
  turns: readonly AnsweredResult[],
): BreakdownPart['difference'] {
  const pairs = paired(perItem(turns, success), successesOfBaseline(baseline));
  if (pairs.a.length === 0) return undefined;
  const { n, users, wins, losses } = tally(pairs, 'higher');
  return {
    ...{ against: baseline[0]!.arm, ...shareGain(pairs) },
    ...{ n, users, wins, losses },
  };
}
