import { sum, type UnitTotals } from './observations.ts';

/** Mean square less squared mean; what rounding leaves of equal values is 0. */
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

/** The prior, before any item tells: half an answer that differs, in a user who always answers alike. */
const PRIOR_EVENTS = 0.5;

/**
 * Design effect of shares or of their differences, by which items of the same units tell less than as many of different ones:
 * the variance over units by that of independent items, pooled over the arms, at least 1. Few answers that differ from the
 * others do not show how units differ, and none shows nothing: half an answer counts for the effect `prior`, by default the
 * worst, items ÷ units.
 * @param arms totals of the same items by arm, one or more
 * @see Kish 1965; of a single arm with everything right the worst case is all that is left
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

/**
 * Design effect of paired differences: the arms' own or that of their differences, whichever is larger, so that more
 * agreement never makes an interval wider. @param differences of these arms to the baseline
 */
export function pairedDesignEffect(values: readonly UnitTotals[], differences: readonly UnitTotals[]): number {
  const ofValues = designEffect(values);
  return Math.max(ofValues, designEffect(differences, ofValues));
}
