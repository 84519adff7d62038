import { SeededRandom } from '../../../config/seeded-random.ts';
import { differences, totalsByUser, type PairedObservation } from './observations.ts';

/** Up to this many users all flips are tried. */
const EXACT_USERS = 12;
const FLIPS = 10_000;

/**
 * Two-sided p value of "the arms do not differ", by flipping the sign of whole users' differences: exact over all flips
 * for at most 12 users that differ at all, otherwise 10,000 seeded flips with p = (extreme + 1) ÷ (flips + 1).
 * 1 where no user differs.
 * @see Phipson and Smyth 2010, "Permutation p-values should never be zero"
 */
export function signFlipP(pairs: readonly PairedObservation[], seed: number): number {
  const sums = totalsByUser(differences(pairs)).sums.filter((sum) => sum !== 0);
  const users = sums.length;
  if (users === 0) return 1;
  const observed = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  // Sums of the same numbers in another order may differ in their last bits.
  const scale = sums.reduce((total, sum) => total + Math.abs(sum), 0);
  const threshold = observed - 1e-12 * scale;
  const isExtreme = (flipped: (user: number) => boolean): boolean => {
    let total = 0;
    for (let user = 0; user < users; user++) total += flipped(user) ? -sums[user]! : sums[user]!;
    return Math.abs(total) >= threshold;
  };
  let extreme = 0;
  if (users <= EXACT_USERS) {
    const all = 2 ** users;
    for (let flips = 0; flips < all; flips++) if (isExtreme((user) => ((flips >> user) & 1) === 1)) extreme++;
    return extreme / all;
  }
  const random = new SeededRandom(seed);
  for (let flip = 0; flip < FLIPS; flip++) if (isExtreme(() => random.chance(0.5))) extreme++;
  return (extreme + 1) / (FLIPS + 1);
}
