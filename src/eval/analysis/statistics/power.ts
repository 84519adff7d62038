import { studentQuantile } from './distributions.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';

/** Degrees of freedom at which Student's t equals the normal distribution to four digits. */
const MANY = 100_000;
/** 1 − power: one true difference in five is missed. */
const MISSES = 0.2;

/** The least true difference found at p < 0.05 with 80 % power: 2.8 standard errors. @see Bloom 1995 */
export function minimumDetectableEffect({ error }: Pick<PairedDifference, 'error'>): number {
  return (studentQuantile(TAIL, MANY) + studentQuantile(MISSES, MANY)) * error;
}

/**
 * The number of items, from proportionally more users, at which an arm that equals the baseline would be judged kept
 * with 80 % power, given the observed spread; for shares, at least the number needed if no item differs. Undefined if
 * meaningless: the interval excludes zero, the margin is 0, or there are enough items already.
 * @param tests number of tests in the family, which share the level
 * @param effect design effect of shares; undefined for values of any range
 */
export function neededItems(
  { interval, error, items }: PairedDifference,
  margin: number,
  { tests, effect }: { readonly tests: number; readonly effect: number | undefined },
): number | undefined {
  if (!(interval.low <= 0 && interval.high >= 0) || !(margin > 0) || !Number.isFinite(error)) return undefined;
  const z = studentQuantile(TAIL / tests, MANY);
  const bySpread = items * (((z + studentQuantile(MISSES, MANY)) * error) / margin) ** 2;
  const byTies = effect === undefined ? 0 : effect * z ** 2 * (1 / margin - 1);
  const needed = Math.ceil(Math.max(bySpread, byTies));
  return needed > items ? needed : undefined;
}
