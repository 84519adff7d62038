import { sum, type UnitTotals } from './observations.ts';

/** Mean square less squared mean; what rounding leaves of equal values is 0. */
function spread(square: number, mean: number): number {
  const difference = square - mean ** 2;
  return difference > 1e-12 * square ? difference : 0;
}

/**
 * The mean over items of equal weight, and its variance over the units that were sampled.
 * @see Efron and Tibshirani 1993, An Introduction to the Bootstrap, §11.5
 */
export function clusteredMean({ sums, counts, squares }: UnitTotals) {
  const units = sums.length;
  const items = sum(counts);
  const mean = sum(sums) / items;
  const between = sum(sums.map((own, unit) => ((own - counts[unit]! * mean) / (items - counts[unit]!)) ** 2));
  return {
    mean,
    items,
    units,
    // Of the mean, by leaving out one unit at a time (jackknife).
    variance: units < 2 ? Infinity : (between * (units - 1)) / units,
    // Of the mean if all items were independent: s² ÷ n.
    independent: items < 2 ? Infinity : spread(squares / items, mean) / (items - 1),
  };
}

/** Standard error of a mean: never smaller than that of as many independent items. */
export function standardError({ variance, independent }: ReturnType<typeof clusteredMean>): number {
  return Math.sqrt(Math.max(variance, independent));
}
