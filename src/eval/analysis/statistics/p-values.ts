import { SeededRandom } from '../../../base/seeded-random.ts';
import { sum, type UnitTotals } from './observations.ts';
import type { McNemar } from '../../../store/records/run-results.ts';
import { incompleteBeta } from './distributions.ts';

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

/**
 * Two-sided p of "wins and losses are equally likely" for a metric of 0 and 1, from the items on which two arms differ, taken as
 * independent: by the binomial distribution (exact), and less half of the probability of the observed counts (mid-p), which is less
 * conservative.
 * @see McNemar 1947; Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
 * than exact conditional"
 */
export function mcnemar(wins: number, losses: number): McNemar {
  const [fewer, all] = [Math.min(wins, losses), wins + losses];
  /** P(X ≤ k) of a binomial distribution with probability ½. */
  const atMost = (k: number): number => (k < 0 ? 0 : k >= all ? 1 : incompleteBeta(0.5, all - k, k + 1));
  // A tie is one outcome; other counts are as unlikely as the same counts exchanged.
  const observed = (atMost(fewer) - atMost(fewer - 1)) * (wins === losses ? 1 : 2);
  const exact = Math.min(1, 2 * atMost(fewer));
  return { exact, midP: all === 0 ? 1 : exact - observed / 2 };
}

/**
 * Adjusted p values in the given order: the i-th smallest of m times m − i + 1, never decreasing. Null stays null, and is
 * no member of the family. @see Holm 1979
 */
export function holm<P extends number | null>(pValues: readonly P[]): P[] {
  const tests = pValues.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = [...pValues];
  let least = 0;
  tests.forEach(({ p, index }, rank) => {
    least = Math.max(least, Math.min(1, p * (tests.length - rank)));
    adjusted[index] = least;
  });
  return adjusted as P[];
}
