import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison } from '../../../store/records/results.ts';
import { counterpartIn, type Turns } from '../arm-turns.ts';
import type { MetricDefinition } from '../metrics/metrics.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { pairItems, perItem } from '../statistics/observations.ts';
import { type ComparedArms, comparedArms, isPlanned } from './compared-arms.ts';
import { costComparisons } from './cost-comparisons.ts';
import { isPooled } from './design-effects.ts';
import { judgeDifferences } from './paired-quality.ts';

/** Metrics that are compared beside the primary one. */
const SECONDARY = ['abstention', 'goldLogProb'];

/** Settings of the comparisons of a run. */
interface ComparisonSettings extends Pick<ComparedArms, 'regime' | 'seed'> {
  readonly metrics: RunMetrics;
  /** Of metrics in %, in points. */
  readonly margin: number;
  /** The self-test was bitwise equal, so that equal bits are no coincidence. */
  readonly bitwise: boolean;
}

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

/**
 * Compares every arm with the baseline: by the primary metric, by costs, then by abstention and the gold's log-probability. Each
 * metric and each cost is a family of tests of the planned arms. Empty without a baseline.
 */
export function compareWithBaseline(
  answered: Turns,
  arms: readonly ArmTraits[],
  { metrics: { all, primary }, margin, bitwise, regime, seed }: ComparisonSettings,
): Comparison[] {
  const compared = comparedArms(answered, arms, { regime, seed });
  if (compared === undefined) return [];
  const { byArm, others, baseline } = compared;
  const base = byArm.get(baseline)!;
  const byMetric = (metric: MetricDefinition): Comparison[] => {
    const baseValues = perItem(base, metric.of);
    const tested = others.flatMap((arm) => {
      const turns = byArm.get(arm.name)!;
      const pairs = pairItems(perItem(turns, metric.of), baseValues);
      if (pairs.length === 0) return [];
      const identical = bitwise && areIdentical(turns, base);
      return [{ name: arm.name, pairs, planned: isPlanned(arm), pooled: isPooled(arm), identical }];
    });
    const judged = judgeDifferences(metric, tested, { seed, margin });
    return tested.map(({ name }, index) => ({ a: name, b: baseline, metric: metric.name, ...judged[index]! }));
  };
  const secondary = all.filter((metric) => SECONDARY.includes(metric.name) && metric !== primary);
  return [...byMetric(primary), ...costComparisons(compared), ...secondary.flatMap(byMetric)];
}
