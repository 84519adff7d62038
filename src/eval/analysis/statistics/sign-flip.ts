import { SeededRandom } from '../../../base/seeded-random.ts';
import type { UnitTotals } from './observations.ts';

/** Up to this many units all flips are tried. */
const EXACT_UNITS = 12;
const FLIPS = 10_000;
/** Units whose sum is looked up by all their signs at once. */
const GROUP = 8;
/** Groups whose signs one drawn number gives. */
const GROUPS_A_DRAW = 4;

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
  const isExtreme = (total: number): boolean => Math.abs(total) >= threshold;
  const groups = Array.from({ length: Math.ceil(units / GROUP) }, (_, group) =>
    sumsBySigns(sums.subarray(group * GROUP, (group + 1) * GROUP)),
  );
  let extreme = 0;
  if (units <= EXACT_UNITS) {
    const [first, second = Float64Array.of(0)] = groups;
    for (const one of first!) for (const other of second) if (isExtreme(one + other)) extreme++;
    return extreme / 2 ** units;
  }
  const random = new SeededRandom(seed);
  for (let flip = 0; flip < flips; flip++) {
    let [total, signs] = [0, 0];
    for (let group = 0; group < groups.length; group++) {
      signs = group % GROUPS_A_DRAW === 0 ? random.bits() : signs >>> GROUP;
      const sum = groups[group]!;
      total += sum[signs & (sum.length - 1)]!;
    }
    if (isExtreme(total)) extreme++;
  }
  return (extreme + 1) / (flips + 1);
}

/** Sums of some numbers under each choice of signs: bit i of the index flips the number i. */
function sumsBySigns(numbers: Float64Array): Float64Array {
  let sums = Float64Array.of(0);
  for (const number of numbers) {
    const longer = new Float64Array(2 * sums.length);
    longer.set(sums.map((sum) => sum + number));
    longer.set(
      sums.map((sum) => sum - number),
      sums.length,
    );
    sums = longer;
  }
  return sums;
}
