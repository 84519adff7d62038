import type { Comparison } from '../../../store/records/results.ts';
import { counterpartIn, type Turns } from '../arm-turns.ts';
import type { MetricDefinition } from '../metrics/metrics.ts';
import { pairItems, perItem } from '../statistics/observations.ts';
import { type ComparedArms, isPlanned } from './compared-arms.ts';
import { isPooled } from './design-effects.ts';
import { judgeDifferences } from './paired-quality.ts';

/** True where all answers are the same and all probabilities have the same bits as the text's. */
function areIdentical(turns: Turns, others: Turns): boolean {
  const counterpart = counterpartIn(others);
  return (
    turns.length === others.length &&
    turns.every((turn) => {
      const other = counterpart(turn);
      return (
        other?.answer.text === turn.answer.text &&
        turn.observed.sequenceSha256 === other.observed.sequenceSha256 &&
        turn.observed.parity?.bitwiseEqual === true &&
        other.observed.parity?.bitwiseEqual === true
      );
    })
  );
}

/** One metric of every arm against the baseline, a family of tests of the planned arms. */
export function qualityComparisons(
  metric: MetricDefinition,
  { byArm, others, baseline, seed }: ComparedArms,
  { margin, bitwise }: { readonly margin: number; readonly bitwise: boolean },
): Comparison[] {
  const base = byArm.get(baseline)!;
  const baseValues = perItem(base, metric.of);
  const compared = others.flatMap((arm) => {
    const turns = byArm.get(arm.name)!;
    const pairs = pairItems(perItem(turns, metric.of), baseValues);
    if (pairs.length === 0) return [];
    const identical = bitwise && areIdentical(turns, base);
    return [{ name: arm.name, pairs, planned: isPlanned(arm), pooled: isPooled(arm), identical }];
  });
  const judged = judgeDifferences(metric, compared, { seed, margin });
  return compared.map(({ name }, index) => ({ a: name, b: baseline, metric: metric.name, ...judged[index]! }));
}
