import { SeededRandom } from '../random.ts';

/**
 * The order in which the arms of an item run: one shuffle by seed, rotated by one from item to item,
 * so that each arm stands equally often in each place.
 */
export function rotated<T>(arms: readonly T[], seed: number, turn: number): T[] {
  const order = new SeededRandom(seed).shuffled(arms);
  const shift = turn % order.length;
  return [...order.slice(shift), ...order.slice(0, shift)];
}
