import { type Interval, meanInterval, TAIL, unbounded } from './intervals.ts';
import { clusteredMean, PRIOR_EVENTS, standardError } from './design-effect.ts';
import { studentQuantile, studentTail } from './distributions.ts';
import { differences, type Pair, sum, unitTotals } from './observations.ts';
import { type PairCounts, tangoInterval, tangoScore } from './tango-interval.ts';

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
  const counts: PairCounts = {
    pairs: items / effect,
    wins: gained / typical / effect,
    losses: lost / typical / effect,
  };
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
