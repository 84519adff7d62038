import { type Interval, meanInterval, TAIL, unbounded } from './intervals.ts';
import { clusteredMean, PRIOR_EVENTS, standardError } from './design-effect.ts';
import { studentQuantile, studentTail } from './distributions.ts';
import { differences, type Pair, sum, unitTotals } from './observations.ts';

/** Counts of pairs of right and wrong answers; after division by a design effect they may be fractions. */
interface PairCounts {
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

export interface PairedDifference {
  readonly delta: number;
  /** 95 %. */
  readonly interval: Interval;
  /** Standard error; infinite for one unit. */
  readonly error: number;
  readonly items: number;
  /** One-sided p of "the true difference is `least` or lower". */
  readonly pAbove: (least: number) => number;
}

/** Totals of a − b, the sum of positive differences, and the absolute sum of negative ones. */
export function pairedTotals(pairs: readonly Pair[]) {
  const found = differences(pairs);
  const values = found.map(({ value }) => value);
  const gained = sum(values.filter((value) => value > 0));
  return { differences: unitTotals(found), gained, lost: sum(values.map((value) => Math.max(0, -value))) };
}

type PairedTotals = ReturnType<typeof pairedTotals>;

/**
 * The mean of a − b of scores from 0 to 1: Tango's score on the pairs that differ, with Student's t. Pairs that differ
 * by less than 1 all count as differing by the typical amount, Σd² ÷ Σ|d|, which preserves mean and variance. Half a pair
 * that differs by 1 is added to both sums, since a few small differences do not rule out a large one.
 * @param effect design effect, which reduces the number of pairs
 */
export function shareDifference({ differences, gained, lost }: PairedTotals, effect: number): PairedDifference {
  const { mean: delta, items, units, independent } = clusteredMean(differences);
  const error = Math.sqrt(independent * effect);
  if (units < 2) return { delta, interval: { low: -1, high: 1 }, error, items, pAbove: () => 1 };
  const typical = (differences.squares + PRIOR_EVENTS) / (gained + lost + PRIOR_EVENTS);
  const counts = { pairs: items / effect, wins: gained / typical / effect, losses: lost / typical / effect };
  const { low, high } = tangoInterval(counts, studentQuantile(TAIL, units - 1));
  return {
    delta,
    interval: { low: low * typical, high: high * typical },
    error,
    items,
    pAbove: (least) => studentTail(tangoScore(counts, least / typical), units - 1),
  };
}

/** The mean of a − b for values of any range, by Student's t over units; a point if all differences are equal. */
export function meanDifference({ differences }: Pick<PairedTotals, 'differences'>): PairedDifference {
  const found = clusteredMean(differences);
  const { mean: delta, items, units } = found;
  const error = standardError(found);
  if (units < 2) return { delta, interval: unbounded, error, items, pAbove: () => 1 };
  return {
    delta,
    interval: meanInterval(differences),
    error,
    items,
    pAbove: (least) => (error > 0 ? studentTail((delta - least) / error, units - 1) : Number(delta <= least)),
  };
}
