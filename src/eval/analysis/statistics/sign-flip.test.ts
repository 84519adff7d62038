import { expect, test } from 'vitest';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { pairedTotals } from './paired-difference.ts';
import { signFlipP } from './p-values.ts';

const paired = (sums: readonly number[]) => ({ sums });

test('counts all flips for few users', () => {
  expect(signFlipP(paired([1, 2, 3, 1, 2]), 1)).toBe(2 / 32);
  // |±1 ±2 ±3| ≥ 4: the four of 6, 4, −4, −6.
  expect(signFlipP(paired([-1, 2, 3]), 1)).toBe(4 / 8);
});

test('flips users, not items, and is 1 where nobody differs', () => {
  const items = [0, 1, 2, 3].flatMap((user) => Array.from({ length: 25 }, () => ({ userId: `u${user}`, a: 1, b: 0 })));
  expect(signFlipP(pairedTotals(items).differences, 1)).toBe(2 / 16);
  expect(signFlipP(paired([0, 0, 0]), 1)).toBe(1);
});

test('flips each unit by its own random bit, as a loop over single units does', () => {
  const sums = Array.from({ length: 41 }, (_, unit) => Math.sin(7 * unit) + 0.2);
  const total = Math.abs(sums.reduce((sum, one) => sum + one));
  const random = new SeededRandom(5);
  let extreme = 0;
  for (let flip = 0; flip < 2000; flip++) {
    const words = [random.bits(), random.bits()];
    const isFlipped = (unit: number): boolean => ((words[unit >> 5]! >>> (unit & 31)) & 1) === 1;
    const flipped = sums.reduce((sum, one, unit) => sum + (isFlipped(unit) ? -one : one), 0);
    if (Math.abs(flipped) >= total) extreme++;
  }
  expect(extreme).toBeGreaterThan(20);
  expect(signFlipP(paired(sums), 5, 2000)).toBe((extreme + 1) / 2001);
});

test('is never 0', () => {
  expect(signFlipP(paired(Array.from({ length: 60 }, () => 1)), 1)).toBe(1 / 10_001);
});
