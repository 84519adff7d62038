import { clusteredMean, designEffect, PRIOR_EVENTS, standardError } from './design-effect.ts';
import { betaQuantile, studentQuantile } from './distributions.ts';
import type { UnitTotals } from './observations.ts';

/** A 95 % interval; infinite where nothing bounds it. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const unbounded: Interval = { low: -Infinity, high: Infinity };

/** The share that a 95 % interval leaves out on either side. */
export const TAIL = 0.025;

/** 95 % interval of a mean of any range: its standard error over units times Student's t with units − 1 degrees. */
export function meanInterval(totals: UnitTotals): Interval {
  const found = clusteredMean(totals);
  if (found.units < 2) return unbounded;
  const half = studentQuantile(TAIL, found.units - 1) * standardError(found);
  return { low: found.mean - half, high: found.mean + half };
}

/**
 * 95 % interval of a mean of scores from 0 to 1: Wilson's score interval on the effective number of items, with
 * Student's t on units − 1 degrees of freedom. It stays within 0 and 1, and has a width even if all answers are right.
 * @param prior design effect pooled over the arms of a run, for arms with few differing answers
 * @see Wilson 1927; Dean and Pagano 2015, Statistics in Medicine 34, on clustered proportions
 */
export function shareInterval(totals: UnitTotals, prior?: number): Interval {
  const { mean, items, units, independent } = clusteredMean(totals);
  if (units < 2) return { low: 0, high: 1 };
  const effect = designEffect([totals], prior);
  // Fractional scores vary less than binary ones with the same mean, so each is worth several items, if enough of them vary.
  const worth = (items * mean * (1 - mean) + PRIOR_EVENTS) / (items * (items - 1) * independent + PRIOR_EVENTS);
  const effective = ((independent === 0 ? items : items - 1) * worth) / effect;
  const k = studentQuantile(TAIL, units - 1) ** 2 / effective;
  const half = Math.sqrt(Math.max(0, mean * (1 - mean)) * k + k ** 2 / 4) / (1 + k);
  const centre = (mean + k / 2) / (1 + k);
  return { low: mean === 0 ? 0 : Math.max(0, centre - half), high: mean === 1 ? 1 : Math.min(1, centre + half) };
}

/**
 * The exact 95 % interval of a proportion; `successes` and `n` may be fractions, after division by a design effect.
 * @throws RangeError unless 0 ≤ successes ≤ n and n > 0 @see Clopper and Pearson 1934
 */
export function clopperPearson(successes: number, n: number): Interval {
  if (!(n > 0 && successes >= 0 && successes <= n)) throw new RangeError(`no proportion of ${successes} in ${n}`);
  return {
    low: successes === 0 ? 0 : betaQuantile(0.025, successes, n - successes + 1),
    high: successes === n ? 1 : betaQuantile(0.975, successes + 1, n - successes),
  };
}
