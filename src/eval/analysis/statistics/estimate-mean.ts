import type { Estimate, Quantiles } from '../../../store/records/estimate.ts';
import { type Interval, meanInterval, shareInterval } from './intervals.ts';
import { countUsers, mean, type Observation, type UnitTotals, unitTotals } from './observations.ts';
import { quantileSorted } from 'simple-statistics';

type Observations = readonly Observation[];

function estimate(observations: Observations, interval: (totals: UnitTotals) => Interval): Estimate | null {
  if (observations.length === 0) return null;
  return {
    mean: mean(observations.map(({ value }) => value)),
    ...interval(unitTotals(observations)),
    n: observations.length,
    users: countUsers(observations),
  };
}

/** Mean and 95 % interval of a quantity of any range, such as a log-probability; null without observations. */
export function estimateMean(observations: Observations): Estimate | null {
  return estimate(observations, meanInterval);
}

/** `estimateMean` for durations in ms, at least 0, with p50 and p95. @param durations of the turns behind the observations */
export function estimateLatency(observations: Observations, durations: readonly number[]): Estimate | null {
  const found = estimateMean(observations);
  return found && { ...found, low: Math.max(0, found.low), ...quantiles(durations) };
}

/** Mean and 95 % interval of a score from 0 to 1. @param effect design effect. Default: the worst case */
export function estimateShare(observations: Observations, effect?: number): Estimate | null {
  return estimate(observations, (totals) => shareInterval(totals, effect));
}

/** With fewer values, fewer than five lie above p95. */
const MIN_FOR_P95 = 100;

/** p50 and, from 100 values on, p95 by linear interpolation. @see Hyndman and Fan 1996, type 7 @throws RangeError without values */
export function quantiles(values: readonly number[]): Quantiles {
  if (values.length === 0) throw new RangeError('no quantile of no values');
  const sorted = values.toSorted((a, b) => a - b);
  const p50 = quantileSorted(sorted, 0.5);
  return values.length < MIN_FOR_P95 ? { p50 } : { p50, p95: quantileSorted(sorted, 0.95) };
}
