import { SeededRandom } from '../random.ts';

/** Resamples of an interval. */
export const BOOTSTRAP_DRAWS = 10_000;

/** Every estimate of a run resamples the same users by the same seed. */
const MOST_KEPT = 8;
const kept = new Map<string, Uint32Array>();

/**
 * Which users each of 10,000 resamples draws with replacement, one resample after the other, each as long as there are
 * users. One seed and one number of users give the same draws; they are made once.
 */
export function resamples(users: number, seed: number): Uint32Array {
  const key = `${users}/${seed}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const random = new SeededRandom(seed);
  const draws = new Uint32Array(BOOTSTRAP_DRAWS * users);
  for (let draw = 0; draw < draws.length; draw++) draws[draw] = random.int(0, users - 1);
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(key, draws);
  return draws;
}
