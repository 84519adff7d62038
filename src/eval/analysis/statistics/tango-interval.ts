import type { Interval } from './intervals.ts';

/** Counts of pairs of right and wrong answers; a design effect may have made them fractions. */
export interface DiscordantPairs {
  readonly pairs: number;
  /** Pairs in which the first is right and the second wrong. */
  readonly wins: number;
  readonly losses: number;
}

/** Bisection steps, enough for more digits than are shown. */
const HALVINGS = 40;

/**
 * Score of a hypothetical difference of two paired proportions: how many of its standard errors, by the likeliest proportions
 * that have this difference, the observed one lies above it. Infinite for a difference that no proportions have.
 * @see Tango 1998, Statistics in Medicine 17, equation 8
 */
export function tangoScore({ pairs, wins, losses }: DiscordantPairs, difference: number): number {
  const distance = wins - losses - pairs * difference;
  const b = (2 * pairs - wins + losses) * difference - wins - losses;
  const c = -losses * difference * (1 - difference);
  const loss = (Math.sqrt(Math.max(0, b ** 2 - 8 * pairs * c)) - b) / (4 * pairs);
  const variance = Math.abs(difference) > 1 ? 0 : pairs * (2 * loss + difference * (1 - difference));
  if (variance > 0) return distance / Math.sqrt(variance);
  return distance === 0 ? 0 : Math.sign(distance) * Infinity;
}

/** The differences whose score lies within ±`quantile`. */
export function tangoInterval(counts: DiscordantPairs, quantile: number): Interval {
  const observed = (counts.wins - counts.losses) / counts.pairs;
  const bound = (limit: number): number => {
    let [outside, inside] = [limit, observed];
    for (let step = 0; step < HALVINGS; step++) {
      const middle = (outside + inside) / 2;
      if (Math.abs(tangoScore(counts, middle)) > quantile) outside = middle;
      else inside = middle;
    }
    return inside;
  };
  return { low: bound(-1), high: bound(1) };
}
