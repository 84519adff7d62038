import { expect, test } from 'vitest';
import { incompleteBeta, studentQuantile } from './distributions.ts';
import { clopperPearson, shareInterval, meanInterval } from './intervals.ts';
import { clusteredMean } from './design-effect.ts';
import { unitTotals } from './observations.ts';

const of = (users: number, items: number, value: (index: number) => number) =>
  unitTotals(
    Array.from({ length: users * items }, (_, index) => ({ userId: `u${index % users}`, value: value(index) })),
  );

test("is Wilson's where every user has one item, with Student's t", () => {
  const { low, high } = shareInterval(of(20, 1, (index) => (index < 15 ? 1 : 0)));
  // Solutions of (p − 0.75)² = t² p (1 − p) ÷ 19.
  for (const p of [low, high]) {
    expect((p - 0.75) ** 2).toBeCloseTo((studentQuantile(0.025, 19) ** 2 * p * (1 - p)) / 19, 12);
  }
});

test('is no point where all are right or all wrong, and narrows with users', () => {
  const [ten, forty] = [10, 40].map((users) => shareInterval(of(users, 8, () => 1)));
  expect(ten!.high).toBe(1);
  // n₀ = 10, t = 2.262: 10 ÷ (10 + t²).
  expect(ten!.low).toBeCloseTo(10 / (10 + 2.2622 ** 2), 4);
  expect(forty!.low).toBeGreaterThan(ten!.low);
  expect(shareInterval(of(10, 8, () => 0))).toEqual({ low: 0, high: expect.closeTo(1 - ten!.low, 12) });
});

test('what other arms show of the users makes it narrower, never wider than the worst case', () => {
  const right = of(10, 8, () => 1);
  expect(shareInterval(right, 1.5).low).toBeGreaterThan(shareInterval(right).low);
  expect(shareInterval(right, 50)).toEqual(shareInterval(right));
});

test('scores between 0 and 1 that scatter less have a narrower one', () => {
  const binary = shareInterval(of(20, 4, (index) => Number(index % 5 > 0)));
  const scores = shareInterval(of(20, 4, (index) => (index % 5 > 0 ? 0.85 : 0.6)));
  expect(scores.high - scores.low).toBeLessThan((binary.high - binary.low) / 2);
  expect(shareInterval(of(20, 4, () => 0.8)).low).toBeLessThan(0.8);
});

test('one score of three quarters among right answers makes an arm hardly surer than right answers alone', () => {
  const [right, partly] = [1, 0.75].map((least) => shareInterval(of(20, 1, (index) => (index === 0 ? least : 1))));
  expect(partly!.low).toBeLessThan(right!.low + 0.02);
});

test('one answer leaves all shares from 0 to 1', () => {
  expect(shareInterval(of(1, 1, () => 1))).toEqual({ low: 0, high: 1 });
});

test('has the closed form 1 − 0.025^(1/20) for no successes, or nothing else', () => {
  expect(clopperPearson(0, 20)).toEqual({ low: 0, high: expect.closeTo(0.16843, 5) });
  expect(clopperPearson(20, 20)).toEqual({ low: expect.closeTo(0.83157, 5), high: 1 });
});

test('bounds are where the binomial tails are 2.5 %, for fractional n too', () => {
  const [n, successes] = [40.5, 10.25];
  const { low, high } = clopperPearson(successes, n);
  expect(incompleteBeta(low, successes, n - successes + 1)).toBeCloseTo(0.025, 8);
  expect(incompleteBeta(high, successes + 1, n - successes)).toBeCloseTo(0.975, 8);
});

test('refuses numbers that make no proportion', () => {
  expect(() => clopperPearson(3, 2)).toThrow(/3 in 2/);
  expect(() => clopperPearson(0, 0)).toThrow(RangeError);
});

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

test('with one user, questions are the units; with one question, nothing is bounded', () => {
  const alone = [1, 2, 3, 6].map((value) => ({ userId: 'u', value }));
  expect(clusteredMean(unitTotals(alone))).toMatchObject({ units: 4, items: 4 });
  expect(meanInterval(unitTotals(alone))).toEqual(meanInterval(unitTotals(items(once))));
  expect(meanInterval(unitTotals(alone.slice(0, 1)))).toEqual({ low: -Infinity, high: Infinity });
});
