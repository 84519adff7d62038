import type { BenchConfig } from '../../config/bench-config.ts';
import { judgeMetric } from '../analysis/metrics/metrics.ts';
import type { MetricDefinition } from '../analysis/metrics/metrics.ts';
import { registeredMetrics } from '../analysis/metrics/registered-metrics.ts';

/** The metrics of a run beside those that the bench always has: of the calling program, and the verdicts of its judge. */
export function ownMetrics({ judge }: Pick<BenchConfig, 'judge'>): readonly MetricDefinition[] {
  return [...registeredMetrics(), ...(judge === undefined ? [] : [judgeMetric])];
}
