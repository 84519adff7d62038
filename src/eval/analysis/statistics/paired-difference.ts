import { clusteredMean, standardError } from './clustered-mean.ts';
import { type Interval, TAIL, unbounded } from './interval.ts';
import { meanInterval } from './mean-interval.ts';
import type { PairedTotals } from './paired-totals.ts';
import { type DiscordantPairs, tangoInterval, tangoScore } from './paired-score.ts';
import { studentQuantile, studentTail } from './student-t.ts';

/** A mean paired difference with what its values allow to say of it. */
export interface PairedDifference {
  readonly delta: number;
  /** 95 %. */
  readonly interval: Interval;
  /** Standard error at the spread that was observed; infinite for one unit. */
  readonly error: number;
  readonly items: number;
  /** One-sided p of "the true difference is `least` or lower". */
  readonly pAbove: (least: number) => number;
}

/**
 * The mean of a − b where both are scores from 0 to 1: Tango's score on the pairs that differ, with Student's t. A pair that
 * differs by less than 1 counts as one that differs by the typical amount: Σd² ÷ Σ|d|, which keeps mean and variance.
 * @param effect design effect, by which the pairs tell less
 */
export function shareDifference({ differences, gained, lost }: PairedTotals, effect: number): PairedDifference {
  const { mean: delta, items, units, independent } = clusteredMean(differences);
  const error = Math.sqrt(independent * effect);
  if (units < 2) return { delta, interval: { low: -1, high: 1 }, error, items, pAbove: () => 1 };
  const typical = gained + lost === 0 ? 1 : differences.squares / (gained + lost);
  const counts: DiscordantPairs = {
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

/** The mean of a − b for values of any range: Student's t over units. Without any spread it bounds nothing but itself. */
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
