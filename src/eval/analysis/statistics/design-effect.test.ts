import { expect, test } from 'vitest';
import { designEffect, pairedDesignEffect } from './design-effect.ts';
import { unitTotals } from './observations.ts';

/** Users of four items, each with so many right. */
const users = (...right: readonly number[]) =>
  unitTotals(
    right.flatMap((count, user) =>
      Array.from({ length: 4 }, (_, item) => ({ userId: `u${user}`, value: item < count ? 1 : 0 })),
    ),
  );

test('nears the items per user if only users differ, and is 1 if they do not', () => {
  const alternating = Array.from({ length: 40 }, (_, user) => (user % 2) * 4);
  expect(designEffect([users(...alternating)])).toBeCloseTo(4, 0);
  expect(designEffect([users(...alternating.map(() => 2))])).toBe(1);
});

test('takes the worst case where nothing differs, and little less where one answer does', () => {
  expect(designEffect([users(4, 4, 4, 4, 4)])).toBe(4);
  const one = designEffect([users(4, 4, 3, 4, 4)]);
  expect(one).toBeGreaterThan(1);
  expect(one).toBeLessThan(4);
});

test('an arm without wrong answers takes the effect pooled over the arms of the run', () => {
  const spread = users(4, 1, 3, 2, 3, 4, 2, 1, 3, 2);
  const allRight = users(...Array.from({ length: 10 }, () => 4));
  const pooled = designEffect([spread, allRight]);
  expect(pooled).toBeLessThan(designEffect([allRight]));
  expect(designEffect([allRight], pooled)).toBeCloseTo(pooled, 12);
  // Never more than there are items of a user.
  expect(designEffect([allRight], 99)).toBe(4);
});

test('of pairs it is that of the values or of the differences, whichever is larger', () => {
  const values = users(4, 1, 3, 2, 3, 4, 2, 1, 3, 2);
  const none = users(...Array.from({ length: 10 }, () => 0));
  const clustered = users(4, 0, 0, 0, 0, 4, 0, 0, 0, 0);
  expect(pairedDesignEffect([values, values], [none])).toBe(designEffect([values, values]));
  expect(pairedDesignEffect([values, values], [clustered])).toBeGreaterThan(2);
});

test('is 1 with one item per user', () => {
  const three = [0, 1, 1].map((value, user) => ({ userId: `u${user}`, value }));
  expect(designEffect([unitTotals(three)])).toBe(1);
});
