import { SeededRandom } from '../../../base/seeded-random.ts';
import { type Observations, unitTotals } from './observations.ts';

const EXCHANGES = 10_000;

/**
 * p value of "the groups do not differ": the share of 10,000 seeded exchanges of users between the groups that spread the
 * means of these as far as they are, with p = (extreme + 1) ÷ (exchanges + 1). The units are users, each the mean of its
 * observations; the spread is the sum of squares between the groups.
 * @param groups of users, disjoint; null where fewer than two of them were observed
 * @see Pitman 1937, "Significance tests which may be applied to samples from any populations"
 */
export function groupDifferenceP(groups: readonly Observations[], seed: number): number | null {
  const means = groups
    .map((group) => {
      const { sums, counts } = unitTotals(group);
      return Array.from(sums, (sum, unit) => sum / counts[unit]!);
    })
    .filter(({ length }) => length > 0);
  if (means.length < 2) return null;
  const sizes = means.map(({ length }) => length);
  const observed = spread(means.flat(), sizes);
  // Sums of the same numbers in another order may differ in their last bits.
  const threshold = observed - 1e-12 * (1 + Math.abs(observed));
  const random = new SeededRandom(seed);
  let users = means.flat();
  let extreme = 0;
  for (let exchange = 0; exchange < EXCHANGES; exchange++) {
    users = random.shuffled(users);
    if (spread(users, sizes) >= threshold) extreme++;
  }
  return (extreme + 1) / (EXCHANGES + 1);
}

/** The sum of squares between groups that stand one after the other, up to what all orders have in common. */
function spread(values: readonly number[], sizes: readonly number[]): number {
  let [total, start] = [0, 0];
  for (const size of sizes) {
    let sum = 0;
    for (let place = start; place < start + size; place++) sum += values[place]!;
    total += sum ** 2 / size;
    start += size;
  }
  return total;
}
