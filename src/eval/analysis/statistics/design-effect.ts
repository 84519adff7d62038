import { sum, type UnitTotals } from './observations.ts';

/** Mean of squares minus square of the mean; 0 if only rounding errors are left. */
function spread(square: number, mean: number): number {
  const difference = square - mean ** 2;
  return difference > 1e-12 * square ? difference : 0;
}

/** The mean over items of equal weight, and its variance over units. @see Efron and Tibshirani 1993, §11.5 */
export function clusteredMean({ sums, counts, squares }: UnitTotals) {
  const units = sums.length;
  const items = sum(counts);
  const mean = sum(sums) / items;
  const between = sum(sums.map((own, unit) => ((own - counts[unit]! * mean) / (items - counts[unit]!)) ** 2));
  return {
    mean,
    items,
    units,
    // Variance of the mean by jackknife: leaving out one unit at a time.
    variance: units < 2 ? Infinity : (between * (units - 1)) / units,
    // Variance of the mean if all items were independent: s² ÷ n.
    independent: items < 2 ? Infinity : spread(squares / items, mean) / (items - 1),
  };
}

/** Standard error of a mean: never smaller than that of as many independent items. */
export function standardError({ variance, independent }: ReturnType<typeof clusteredMean>): number {
  return Math.sqrt(Math.max(variance, independent));
}

/** Weight of a prior, in answers that differ wholly: few differences say little about those that were not seen. */
export const PRIOR_EVENTS = 0.5;

/**
 * Design effect of shares or of their differences: variance over units ÷ that of independent items, pooled over arms,
 * at least 1. Few differing answers say little about units, so half an answer is added with the effect `prior`, by
 * default the worst case: items ÷ units. @param arms totals of the same items by arm @see Kish 1965
 */
export function designEffect(arms: readonly UnitTotals[], prior = Infinity): number {
  let [within, between, worst] = [0, 0, 1];
  for (const totals of arms) {
    const { items, units, variance, independent } = clusteredMean(totals);
    if (units < 2) continue;
    between += (variance * items ** 2) / arms.length;
    within += (independent * items ** 2) / arms.length;
    worst = Math.max(worst, items / units);
  }
  return Math.max(1, (between + PRIOR_EVENTS * Math.min(prior, worst)) / (within + PRIOR_EVENTS));
}

/** Design effect of pairs: that of values or of differences, if larger, so that agreement never widens intervals. */
export function pairedDesignEffect(values: readonly UnitTotals[], differences: readonly UnitTotals[]): number {
  const ofValues = designEffect(values);
  return Math.max(ofValues, designEffect(differences, ofValues));
}
