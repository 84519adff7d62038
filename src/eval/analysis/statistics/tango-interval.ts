import type { Interval } from './intervals.ts';

/** Counts of pairs of right and wrong answers; after division by a design effect they may be fractions. */
export interface PairCounts {
  readonly pairs: number;
  /** Pairs in which the first is right and the second wrong. */
  readonly wins: number;
  readonly losses: number;
}

/** Bisection steps: more precision than is ever shown. */
const BISECTION_STEPS = 40;

/**
 * Score statistic of a hypothetical difference of two paired proportions: (observed − hypothetical) ÷ standard error. The error is
 * that of the most likely proportions which have the hypothetical difference. Infinite if that difference is impossible.
 * @see Tango 1998, Statistics in Medicine 17, equation 8
 */
export function tangoScore({ pairs, wins, losses }: PairCounts, difference: number): number {
  const distance = wins - losses - pairs * difference;
  const b = (2 * pairs - wins + losses) * difference - wins - losses;
  const c = -losses * difference * (1 - difference);
  const loss = (Math.sqrt(Math.max(0, b ** 2 - 8 * pairs * c)) - b) / (4 * pairs);
  const variance = Math.abs(difference) > 1 ? 0 : pairs * (2 * loss + difference * (1 - difference));
  if (variance > 0) return distance / Math.sqrt(variance);
  return distance === 0 ? 0 : Math.sign(distance) * Infinity;
}

/** The confidence interval: all differences whose score lies within ±`quantile`. */
export function tangoInterval(counts: PairCounts, quantile: number): Interval {
  const observed = (counts.wins - counts.losses) / counts.pairs;
  const bound = (limit: number): number => {
    let [outside, inside] = [limit, observed];
    for (let step = 0; step < BISECTION_STEPS; step++) {
      const middle = (outside + inside) / 2;
      if (Math.abs(tangoScore(counts, middle)) > quantile) outside = middle;
      else inside = middle;
    }
    return inside;
  };
  return { low: bound(-1), high: bound(1) };
}
