import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../../config/seeded-random.ts';
import { bootstrapDifference, bootstrapMean } from './bootstrap.ts';

const spread = Array.from({ length: 40 }, (_, user) => ({ userId: `u${user}`, value: user % 8 }));

test('approaches the normal interval of a mean over many users', () => {
  const halfWidth = 1.96 * Math.sqrt(63 / 12 / 40);
  const { low, high } = bootstrapMean(spread, 5);
  expect(low).toBeCloseTo(3.5 - halfWidth, 1);
  expect(high).toBeCloseTo(3.5 + halfWidth, 1);
});

test('resamples users: copies of the same items tell nothing new', () => {
  const copies = spread.flatMap((item) => Array.from({ length: 10 }, () => item));
  expect(bootstrapMean(copies, 5)).toEqual(bootstrapMean(spread, 5));
});

test('weights items equally where users have unequal numbers', () => {
  const items = [
    { userId: 'a', value: 0 },
    ...Array.from({ length: 3 }, () => ({ userId: 'b', value: 1 })),
    { userId: 'c', value: 0.75 },
  ];
  const { low, high } = bootstrapMean(items, 1);
  expect(low).toBe(0);
  expect(high).toBe(1);
});

test('one seed gives the same bits in any order of users', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const order = new SeededRandom(seed).shuffled(spread);
      expect(bootstrapMean(order, seed)).toEqual(bootstrapMean(spread, seed));
    }),
    { numRuns: 10 },
  );
  expect(bootstrapMean(spread, 1)).not.toEqual(bootstrapMean(spread, 2));
});

test('covers the true mean about 95 times in 100', () => {
  const random = new SeededRandom(11);
  const runs = 150;
  let covered = 0;
  for (let run = 0; run < runs; run++) {
    const items = Array.from({ length: 40 }, (_, user) => {
      const skill = random.float();
      return Array.from({ length: 5 }, () => ({ userId: `u${user}`, value: random.chance(skill) ? 1 : 0 }));
    }).flat();
    const { low, high } = bootstrapMean(items, run);
    if (low <= 0.5 && 0.5 <= high) covered++;
  }
  expect(covered / runs).toBeGreaterThan(0.89);
  expect(covered / runs).toBeLessThan(0.99);
});

test('pairs cancel what users share', () => {
  const pairs = spread.map(({ userId, value }) => ({ userId, a: value + 0.25, b: value }));
  expect(bootstrapDifference(pairs, 1)).toEqual({ low: 0.25, high: 0.25 });
});

test('one user bounds nothing', () => {
  expect(bootstrapMean([{ userId: 'a', value: 1 }], 1)).toEqual({ low: -Infinity, high: Infinity });
});
