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
    independent: items < 2 ? Infinity : Math.max(0, squares / items - mean ** 2) / (items - 1),
  };
}
