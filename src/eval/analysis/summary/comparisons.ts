import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { type ComparedArms, comparedArms } from './compared-arms.ts';
import { costComparisons } from './cost-comparisons.ts';
import { qualityComparisons } from './quality-comparisons.ts';

/** Metrics whose differences to the baseline are shown beside the primary one. */
const BESIDE = ['abstention', 'goldLogProb'];

function comparedMetrics({ all, primary }: RunMetrics): MetricDefinition[] {
  return [primary, ...all.filter((metric) => BESIDE.includes(metric.name) && metric !== primary)];
}

/** Settings of the comparisons of a run. */
interface ComparisonSettings extends Pick<ComparedArms, 'regime' | 'seed'> {
  readonly metrics: RunMetrics;
  /** Of metrics in %, points. */
  readonly margin: number;
  /** The self-test was bitwise equal: equal bits are the machine's rule, not its luck. */
  readonly bitwise: boolean;
}

/**
 * Every arm against the baseline by the primary metric, and by costs; then by abstention and by the gold's log-probability. Each
 * metric and each cost is a family of tests of the planned arms. None without a baseline.
 */
export function compareWithBaseline(
  answered: readonly AnsweredResult[],
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
