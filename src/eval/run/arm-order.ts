import { SeededRandom } from '../../base/seeded-random.ts';

/**
 * Orders the arms of an item: one shuffle by seed, then a Williams design, rotated from item to item.
 * Each arm stands equally often in each place and, with an even number of arms, equally often behind each other arm;
 * an odd number needs the mirrored order every other round.
 * @see Williams 1949, "Experimental designs balanced for the estimation of residual effects of treatments"
 */
export function armOrder<T>(arms: readonly T[], seed: number, turn: number): T[] {
  const shuffled = new SeededRandom(seed).shuffled(arms);
  const count = shuffled.length;
  const order = shuffled.map((_, place) => {
    const step = place % 2 === 0 ? place / 2 : count - (place + 1) / 2;
    return shuffled[(step + turn) % count]!;
  });
  return count % 2 === 1 && Math.floor(turn / count) % 2 === 1 ? order.reverse() : order;
}
