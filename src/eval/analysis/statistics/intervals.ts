import { betaQuantile, studentQuantile } from './distributions.ts';
import { type UnitTotals, sum } from './observations.ts';

/** A 95 % interval; infinite where nothing bounds it. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const unbounded: Interval = { low: -Infinity, high: Infinity };

/** The share that a 95 % interval leaves out on either side. */
export const TAIL = 0.025;

/** 95 % interval of a mean of any range: Student's t on its standard error over units, with units − 1 degrees of freedom. */
export function meanInterval(totals: UnitTotals): Interval {
  const found = clusteredMean(totals);
  if (found.units < 2) return unbounded;
  const half = studentQuantile(TAIL, found.units - 1) * standardError(found);
  return { low: found.mean - half, high: found.mean + half };
}

/**
 * 95 % interval of a mean of scores from 0 to 1: Wilson's score interval on the effective number of items, with Student's t on
 * units − 1 degrees of freedom. It stays within 0 and 1, and has a width even where all answers are right.
 * @param prior design effect pooled over the arms of a run, for an arm that shows little of its own
 * @see Wilson 1927; Dean and Pagano 2015, Statistics in Medicine 34, on clustered proportions
 */
export function shareInterval(totals: UnitTotals, prior?: number): Interval {
  const { mean, items, units, independent } = clusteredMean(totals);
  if (units < 2) return { low: 0, high: 1 };
  const effect = designEffect([totals], prior);
  // Scores between 0 and 1 vary less than 0 and 1 with the same mean: each is worth several of these.
  const effective = independent === 0 ? items / effect : (mean * (1 - mean)) / (independent * effect);
  const k = studentQuantile(TAIL, units - 1) ** 2 / effective;
  const half = Math.sqrt(Math.max(0, mean * (1 - mean)) * k + k ** 2 / 4) / (1 + k);
  const centre = (mean + k / 2) / (1 + k);
  return { low: mean === 0 ? 0 : Math.max(0, centre - half), high: mean === 1 ? 1 : Math.min(1, centre + half) };
}

/**
 * The exact 95 % interval of a proportion; `successes` and `n` may be fractions, by a design effect.
 * @throws RangeError unless 0 ≤ successes ≤ n and n > 0 @see Clopper and Pearson 1934
 */
export function clopperPearson(successes: number, n: number): Interval {
  if (!(n > 0 && successes >= 0 && successes <= n)) throw new RangeError(`no proportion of ${successes} in ${n}`);
  return {
    low: successes === 0 ? 0 : betaQuantile(0.025, successes, n - successes + 1),
    high: successes === n ? 1 : betaQuantile(0.975, successes + 1, n - successes),
  };
}

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
