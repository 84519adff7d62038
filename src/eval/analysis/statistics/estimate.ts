import type { Estimate } from '../../../store/records/results.ts';
import { meanInterval } from './mean-interval.ts';
import { countUsers, meanOf, type Observations, unitTotals } from './observations.ts';
import { quantiles } from './quantile.ts';
import { shareInterval } from './share-interval.ts';

/** Mean and 95 % interval of a quantity of any range, such as a log-probability; null without observations. */
export function estimateMean(observations: Observations): Estimate | null {
  if (observations.values.length === 0) return null;
  return {
    mean: meanOf(observations.values),
    ...meanInterval(unitTotals(observations)),
    n: observations.values.length,
    users: countUsers(observations),
  };
}

/** As `estimateMean`, at least 0, with p50, and p95 from 100 observations on; for durations in ms. */
export function estimateLatency(observations: Observations): Estimate | null {
  const estimate = estimateMean(observations);
  if (estimate === null) return null;
  const found = quantiles(observations.values);
  return { ...estimate, low: Math.max(0, estimate.low), ...found };
}

/**
 * Mean and 95 % interval of a score from 0 to 1; null without observations.
 * @param effect design effect pooled over the arms of the run; without it the worst case stands for what the items do not show
 */
export function estimateShare(observations: Observations, effect?: number): Estimate | null {
  if (observations.values.length === 0) return null;
  return {
    mean: meanOf(observations.values),
    ...shareInterval(unitTotals(observations), effect),
    n: observations.values.length,
    users: countUsers(observations),
  };
}
