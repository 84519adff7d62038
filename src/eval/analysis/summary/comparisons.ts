import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison } from '../../../store/records/results.ts';
import type { Turns } from '../arm-turns.ts';
import type { MetricDefinition } from '../metrics/metrics.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { type ComparedArms, comparedArms } from './compared-arms.ts';
import { costComparisons } from './cost-comparisons.ts';
import { qualityComparisons } from './quality-comparisons.ts';

/** Metrics that are compared beside the primary one. */
const SECONDARY = ['abstention', 'goldLogProb'];

function comparedMetrics({ all, primary }: RunMetrics): MetricDefinition[] {
  return [primary, ...all.filter((metric) => SECONDARY.includes(metric.name) && metric !== primary)];
}

/** Settings of the comparisons of a run. */
interface ComparisonSettings extends Pick<ComparedArms, 'regime' | 'seed'> {
  readonly metrics: RunMetrics;
  /** Of metrics in %, in points. */
  readonly margin: number;
  /** The self-test was bitwise equal, so that equal bits are no coincidence. */
  readonly bitwise: boolean;
}

/**
 * Compares every arm with the baseline: by the primary metric, by costs, then by abstention and the gold's log-probability. Each
 * metric and each cost is a family of tests of the planned arms. Empty without a baseline.
 */
export function compareWithBaseline(
  answered: Turns,
  arms: readonly ArmTraits[],
  { metrics, margin, bitwise, regime, seed }: ComparisonSettings,
): Comparison[] {
  const compared = comparedArms(answered, arms, { regime, seed });
  if (compared === undefined) return [];
  const [first, ...more] = comparedMetrics(metrics).map((metric) =>
    qualityComparisons(metric, compared, { margin, bitwise }),
  );
  return [...first!, ...costComparisons(compared), ...more.flat()];
}
