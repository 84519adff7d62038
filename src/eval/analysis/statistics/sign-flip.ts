import { SeededRandom } from '../../../base/seeded-random.ts';
import { sum, type UnitTotals } from './observations.ts';

/** Up to this many units all flips are tried. */
const EXACT_UNITS = 12;
const FLIPS = 10_000;

/**
 * Two-sided p value of "the arms do not differ", by flipping the signs of the units' differences: over all flips for up
 * to 12 units that differ, otherwise over random flips with p = (extreme + 1) ÷ (flips + 1); 1 if no unit differs.
 * @see Phipson and Smyth 2010, "Permutation p-values should never be zero"
 */
export function signFlipP(differences: Pick<UnitTotals, 'sums'>, seed: number, flips = FLIPS): number {
  const sums = differences.sums.filter((one) => one !== 0);
  const units = sums.length;
  if (units === 0) return 1;
  // Sums of the same numbers in another order may differ in their last bits.
  const threshold = Math.abs(sum(sums)) - 1e-12 * sum(sums.map(Math.abs));
  /** @param words bits, 32 per word: bit i flips unit i */
  const isExtreme = (words: readonly number[]): boolean => {
    let total = 0;
    for (let unit = 0; unit < units; unit++) {
      const flipped = ((words[unit >>> 5]! >>> (unit & 31)) & 1) === 1;
      total += flipped ? -sums[unit]! : sums[unit]!;
    }
    return Math.abs(total) >= threshold;
  };
  let extreme = 0;
  if (units <= EXACT_UNITS) {
    for (let signs = 0; signs < 2 ** units; signs++) if (isExtreme([signs])) extreme++;
    return extreme / 2 ** units;
  }
  const random = new SeededRandom(seed);
  for (let flip = 0; flip < flips; flip++) {
    if (isExtreme(Array.from({ length: Math.ceil(units / 32) }, () => random.bits()))) extreme++;
  }
  return (extreme + 1) / (flips + 1);
}
