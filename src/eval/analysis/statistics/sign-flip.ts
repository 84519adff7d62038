import { SeededRandom } from '../../../config/seeded-random.ts';
import type { UnitTotals } from './observations.ts';

/** Up to this many units all flips are tried. */
const EXACT_UNITS = 12;
const FLIPS = 10_000;
/** Signs that one drawn number gives. */
const SIGNS = 32;

/**
 * Two-sided p value of "the arms do not differ", by flipping the sign of whole units' differences: exact over all flips
 * for at most 12 units that differ at all, otherwise seeded flips with p = (extreme + 1) ÷ (flips + 1).
 * 1 where no unit differs.
 * @param flips of more units than that
 * @see Phipson and Smyth 2010, "Permutation p-values should never be zero"
 */
export function signFlipP(differences: Pick<UnitTotals, 'sums'>, seed: number, flips = FLIPS): number {
  const sums = differences.sums.filter((sum) => sum !== 0);
  const units = sums.length;
  if (units === 0) return 1;
  const observed = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  // Sums of the same numbers in another order may differ in their last bits.
  const scale = sums.reduce((total, sum) => total + Math.abs(sum), 0);
  const threshold = observed - 1e-12 * scale;
  const signs = new Int32Array(Math.ceil(units / SIGNS));
  const isExtreme = (): boolean => {
    let total = 0;
    for (let unit = 0; unit < units; unit++) {
      const flipped = (signs[unit >>> 5]! >>> (unit & 31)) & 1;
      total += flipped === 1 ? -sums[unit]! : sums[unit]!;
    }
    return Math.abs(total) >= threshold;
  };
  let extreme = 0;
  if (units <= EXACT_UNITS) {
    const all = 2 ** units;
    for (signs[0] = 0; signs[0] < all; signs[0]++) if (isExtreme()) extreme++;
    return extreme / all;
  }
  const random = new SeededRandom(seed);
  for (let flip = 0; flip < flips; flip++) {
    for (let word = 0; word < signs.length; word++) signs[word] = random.bits();
    if (isExtreme()) extreme++;
  }
  return (extreme + 1) / (flips + 1);
}
