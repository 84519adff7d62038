import type { UnitTotals } from './observations.ts';

/** A mean over items that come in units, and how far it is known. */
export interface ClusteredMean {
  readonly mean: number;
  readonly items: number;
  readonly units: number;
  /** Of the mean, by leaving out one unit at a time (jackknife); infinite for one unit. */
  readonly variance: number;
  /** Of the mean, were all items independent: s² ÷ n. */
  readonly independent: number;
}

/** Mean square less square of the mean; what is left of equal values by rounding is nothing. */
function spreadOf(square: number, mean: number): number {
  const spread = square - mean ** 2;
  return spread > 1e-12 * square ? spread : 0;
}

/**
 * The mean over items, each of equal weight, and its variance over the units that were drawn.
 * @see Efron and Tibshirani 1993, An Introduction to the Bootstrap, §11.5
 */
export function clusteredMean({ sums, counts, squares }: UnitTotals): ClusteredMean {
  const units = sums.length;
  let items = 0;
  let total = 0;
  for (let unit = 0; unit < units; unit++) {
    items += counts[unit]!;
    total += sums[unit]!;
  }
  const mean = total / items;
  let between = 0;
  for (let unit = 0; unit < units; unit++) {
    between += ((sums[unit]! - counts[unit]! * mean) / (items - counts[unit]!)) ** 2;
  }
  return {
    mean,
    items,
    units,
    variance: units < 2 ? Infinity : (between * (units - 1)) / units,
    independent: items < 2 ? Infinity : spreadOf(squares / items, mean) / (items - 1),
  };
}

/** Standard error of a mean: users never make it surer than as many independent items would. */
export function standardError({ variance, independent }: ClusteredMean): number {
  return Math.sqrt(Math.max(variance, independent));
}
