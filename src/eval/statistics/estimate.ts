import type { Estimate } from '../results.ts';
import { bootstrapMean } from './bootstrap.ts';
import { clopperPearson } from './clopper-pearson.ts';
import { effectiveItems } from './design-effect.ts';
import { meanOf, type Observation } from './observations.ts';
import { quantiles } from './quantile.ts';

function userCount(observations: readonly Observation[]): number {
  return new Set(observations.map((observation) => observation.userId)).size;
}

/**
 * Mean and 95 % interval over users of a quantity of any range, such as a log-probability; null without observations.
 */
export function estimateMean(observations: readonly Observation[], seed: number): Estimate | null {
  if (observations.length === 0) return null;
  return {
    mean: meanOf(observations),
    ...bootstrapMean(observations, seed),
    n: observations.length,
    users: userCount(observations),
  };
}

/** As `estimateMean`, with p50, and p95 from 100 observations on; for durations in ms. */
export function estimateLatency(observations: readonly Observation[], seed: number): Estimate | null {
  const estimate = estimateMean(observations, seed);
  return estimate === null ? null : { ...estimate, ...quantiles(observations.map((observation) => observation.value)) };
}

/**
 * Mean and 95 % interval of a score from 0 to 1; null without observations. Where all are 0 or all are 1 no resample
 * differs from the sample, so the interval is Clopper and Pearson's on n reduced by the design effect.
 */
export function estimateShare(observations: readonly Observation[], seed: number): Estimate | null {
  const estimate = estimateMean(observations, seed);
  if (estimate === null) return null;
  if (estimate.mean === 0 || observations.every(({ value }) => value === 1)) {
    const n = effectiveItems(observations);
    return { ...estimate, ...clopperPearson(estimate.mean * n, n) };
  }
  return { ...estimate, low: Math.max(0, estimate.low), high: Math.min(1, estimate.high) };
}
