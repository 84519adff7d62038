import type { Estimate } from '../../../records/results.ts';
import { bootstrapMean } from './bootstrap.ts';
import { clopperPearson } from './clopper-pearson.ts';
import { effectiveItems } from './design-effect.ts';
import { meanOf, usersOf, type Observations } from './observations.ts';
import { quantiles } from './quantile.ts';

/**
 * Mean and 95 % interval over users of a quantity of any range, such as a log-probability; null without observations.
 */
export function estimateMean(observations: Observations, seed: number): Estimate | null {
  if (observations.length === 0) return null;
  return {
    mean: meanOf(observations),
    ...bootstrapMean(observations, seed),
    n: observations.length,
    users: usersOf(observations).size,
  };
}

/** As `estimateMean`, with p50, and p95 from 100 observations on; for durations in ms. */
export function estimateLatency(observations: Observations, seed: number): Estimate | null {
  const estimate = estimateMean(observations, seed);
  return estimate === null ? null : { ...estimate, ...quantiles(Array.from(observations, ({ value }) => value)) };
}

/**
 * Mean and 95 % interval of a score from 0 to 1; null without observations. Where all are 0 or all are 1 no resample
 * differs from the sample, so the interval is Clopper and Pearson's on n reduced by the design effect.
 */
export function estimateShare(observations: Observations, seed: number): Estimate | null {
  const estimate = estimateMean(observations, seed);
  if (estimate === null) return null;
  if (estimate.mean === 0 || allAreOne(observations)) {
    const n = effectiveItems(observations);
    return { ...estimate, ...clopperPearson(estimate.mean * n, n) };
  }
  return { ...estimate, low: Math.max(0, estimate.low), high: Math.min(1, estimate.high) };
}

function allAreOne(observations: Observations): boolean {
  for (const { value } of observations) if (value !== 1) return false;
  return true;
}
