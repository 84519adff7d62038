import { expect, test } from 'vitest';
import { clusteredMean } from './clustered-mean.ts';
import { meanInterval } from './intervals.ts';
import { unitTotals } from './observations.ts';

const items = (users: readonly (readonly number[])[]) =>
  users.flatMap((values, user) => values.map((value) => ({ userId: `u${user}`, value })));

const once = [[1], [2], [3], [6]];

test('one item a user has the variance of a mean, s² ÷ n, whichever way it is computed, and the interval of Student', () => {
  // Σ (x − 3)² = 14, s² = 14/3.
  const variance = expect.closeTo(14 / 3 / 4, 12) as number;
  expect(clusteredMean(unitTotals(items(once)))).toMatchObject({ mean: 3, variance, independent: variance });
  // 3 ± 3.1824 · √(14/12)
  expect(meanInterval(unitTotals(items(once))).low).toBeCloseTo(3 - 3.1824 * Math.sqrt(14 / 12), 3);
});

test('copies of an item of the same user tell nothing new', () => {
  const copied = once.map(([value]) => Array.from({ length: 10 }, () => value!));
  const { variance, independent } = clusteredMean(unitTotals(items(copied)));
  expect(variance).toBeCloseTo(14 / 3 / 4, 12);
  expect(independent).toBeLessThan(variance / 9);
  expect(meanInterval(unitTotals(items(copied)))).toEqual(meanInterval(unitTotals(items(once))));
});

test('does not depend on the order of rows', () => {
  const rows = items([[0.1, 0.2], [0.7], [0.4, 0.3, 0.9]]);
  expect(unitTotals([...rows].reverse()).sums).toEqual(unitTotals(rows).sums);
});

test('of one user the questions are drawn; of one question nothing is known', () => {
  const alone = [1, 2, 3, 6].map((value) => ({ userId: 'u', value }));
  expect(clusteredMean(unitTotals(alone))).toMatchObject({ units: 4, items: 4 });
  expect(meanInterval(unitTotals(alone))).toEqual(meanInterval(unitTotals(items(once))));
  expect(meanInterval(unitTotals(alone.slice(0, 1)))).toEqual({ low: -Infinity, high: Infinity });
});
