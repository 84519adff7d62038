import { expect, test } from 'vitest';
import { pairedDesignEffect } from './design-effect.ts';
import { sideValues, unitTotals } from './observations.ts';
import { meanDifference, pairedTotals, shareDifference } from './paired-difference.ts';

/** 162 items of 20 users whose baseline is wrong in ten; `other` says where the arm differs from it. */
const pairs = (other: (index: number) => number | undefined) =>
  Array.from({ length: 162 }, (_, index) => {
    const b = index % 17 === 0 ? 0 : 1;
    return { userId: `u${index % 20}`, a: other(index) ?? b, b };
  });

function widthOf(some: ReturnType<typeof pairs>): number {
  const side = (which: 'a' | 'b') => unitTotals(sideValues(some, which));
  const totals = pairedTotals(some);
  const effect = pairedDesignEffect([side('a'), side('b')], [totals.differences]);
  const { low, high } = shareDifference(totals, effect).interval;
  return high - low;
}

test('162 ties have a narrower interval than one win and one loss, and these than three of each', () => {
  const ties = widthOf(pairs(() => undefined));
  const two = widthOf(pairs((index) => ({ 17: 1, 18: 0 })[index]));
  const six = widthOf(pairs((index) => ({ 17: 1, 34: 1, 51: 1, 18: 0, 35: 0, 52: 0 })[index]));
  expect(ties).toBeGreaterThan(0.04);
  expect(two).toBeGreaterThan(ties);
  expect(six).toBeGreaterThan(two);
});

test('ties alone refute a loss of the margin only with enough items', () => {
  const tied = (items: number) =>
    Array.from({ length: items }, (_, index) => ({ userId: `u${index % 40}`, a: 1, b: 1 }));
  expect(shareDifference(pairedTotals(tied(160)), 1).pAbove(-0.02)).toBeGreaterThan(0.025);
  expect(shareDifference(pairedTotals(tied(800)), 1).pAbove(-0.02)).toBeLessThan(0.025);
});

test('one small difference among ties is no proof that there are no large ones', () => {
  const twenty = (small: number) =>
    Array.from({ length: 20 }, (_, user) => ({ userId: `u${user}`, a: user === 0 ? 1 - small : 1, b: 1 }));
  const [tied, differing] = [0, 0.01].map((small) => shareDifference(pairedTotals(twenty(small)), 1));
  expect(tied!.pAbove(-0.02)).toBeGreaterThan(0.25);
  expect(differing!.pAbove(-0.02)).toBeGreaterThan(tied!.pAbove(-0.02));
  expect(differing!.interval.low).toBeCloseTo(tied!.interval.low, 2);
  expect(differing!.interval.high).toBeCloseTo(tied!.interval.high, 2);
});

test('many differences of a tenth have little more than a tenth of the interval', () => {
  const some = pairs((index) => (index % 11 === 0 ? 0 : index % 17 === 0 ? 1 : undefined));
  const whole = Array.from({ length: 50 }, () => some).flat();
  const tenth = whole.map(({ userId, a, b }) => ({ userId, a: b + (a - b) / 10, b }));
  const [one, other] = [whole, tenth].map((some) => shareDifference(pairedTotals(some), 1.2));
  expect(other!.delta).toBeCloseTo(one!.delta / 10, 12);
  const share = other!.interval.low / one!.interval.low;
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.105);
  expect(other!.pAbove(-0.2)).toBeLessThan(1e-9);
});

test("values of any range have Student's interval; without spread they bound themselves", () => {
  const some = [1, 2, 3, 6].map((value, user) => ({ userId: `u${user}`, a: value, b: 0 }));
  const { delta, interval, pAbove } = meanDifference(pairedTotals(some));
  expect(delta).toBe(3);
  expect(pAbove(interval.low)).toBeCloseTo(0.025, 9);
  const same = meanDifference(pairedTotals(some.map((pair) => ({ ...pair, a: 0 }))));
  expect(same.interval).toEqual({ low: 0, high: 0 });
  expect([same.pAbove(-0.05), same.pAbove(0)]).toEqual([0, 1]);
});

test('one pair bounds nothing', () => {
  const one = pairedTotals([{ userId: 'u', a: 1, b: 0 }]);
  expect(shareDifference(one, 1)).toMatchObject({ delta: 1, interval: { low: -1, high: 1 } });
  expect(meanDifference(one).interval).toEqual({ low: -Infinity, high: Infinity });
  expect(shareDifference(one, 1).pAbove(-0.02)).toBe(1);
});
