import { studentQuantile } from './distributions.ts';
import { TAIL } from './intervals.ts';
import type { PairedDifference } from './paired-difference.ts';

/** With so many degrees of freedom Student's t is the normal distribution, to four digits. */
const MANY = 100_000;
/** Of a test that finds what is there four times in five. */
const MISSES = 0.2;

/** The least true difference found at p < 0.05 with 80 % power: 2.8 standard errors. @see Bloom 1995 */
export function minimumDetectableEffect({ error }: Pick<PairedDifference, 'error'>): number {
  return (studentQuantile(TAIL, MANY) + studentQuantile(MISSES, MANY)) * error;
}

/**
 * The items, of proportionally more users, with which arms that do not differ would be called kept four times in five, if
 * they go on to differ as much by the item; for shares also more than it takes where none differs at all. Undefined where that
 * number means nothing: the interval leaves out zero, there is no margin, or the items are there already.
 * @param tests arms of the family, among which the level is divided
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
