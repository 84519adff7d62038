import { clusteredMean } from './clustered-mean.ts';
import type { UnitTotals } from './observations.ts';

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
 * Design effect of paired differences in a run: that of the arms' own values or that of their differences, whichever is larger.
 * With no difference the values still tell how users do, so that more agreement never makes an interval wider.
 * @param values of every arm that is compared, the baseline included @param differences of these to the baseline
 */
export function pairedDesignEffect(values: readonly UnitTotals[], differences: readonly UnitTotals[]): number {
  const ofValues = designEffect(values);
  return Math.max(ofValues, designEffect(differences, ofValues));
}
