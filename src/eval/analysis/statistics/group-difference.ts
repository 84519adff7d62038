import { SeededRandom } from '../../../base/seeded-random.ts';
import { type Observation, sum, unitTotals } from './observations.ts';

const PERMUTATIONS = 10_000;

/**
 * p value of "the groups do not differ" from 10,000 seeded permutations of users between the groups:
 * (extreme + 1) ÷ (permutations + 1). The units are users, each the mean of its observations; the statistic is the sum of
 * squares between the groups. Null where fewer than two groups have observations.
 * @param groups of users, disjoint
 * @see Pitman 1937, "Significance tests which may be applied to samples from any populations"
 */
export function groupDifferenceP(groups: readonly (readonly Observation[])[], seed: number): number | null {
  const means = groups
    .map((group) => {
      const { sums, counts } = unitTotals(group);
      return sums.map((own, unit) => own / counts[unit]!);
    })
    .filter(({ length }) => length > 0);
  if (means.length < 2) return null;
  const sizes = means.map(({ length }) => length);
  let users = means.flat();
  const observed = spread(users, sizes);
  // Sums of the same numbers in another order may differ in their last bits.
  const threshold = observed - 1e-12 * (1 + Math.abs(observed));
  const random = new SeededRandom(seed);
  let extreme = 0;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation++) {
    users = random.shuffled(users);
    if (spread(users, sizes) >= threshold) extreme++;
  }
  return (extreme + 1) / (PERMUTATIONS + 1);
}

/** The sum of squares between consecutive groups of these sizes, less a constant that no permutation changes. */
function spread(values: readonly number[], sizes: readonly number[]): number {
  let start = 0;
  return sum(
    sizes.map((size) => {
      const own = sum(values.slice(start, start + size));
      start += size;
      return own ** 2 / size;
    }),
  );
}
