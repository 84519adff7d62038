import { expect, test } from 'vitest';
import { minimumDetectableEffect } from './minimum-detectable-effect.ts';

const pairs = (values: readonly number[], perUser: number) =>
  values.map((a, index) => ({ userId: `u${Math.floor(index / perUser)}`, a, b: 0 }));

test("is Bloom's 2.80 standard errors for independent items", () => {
  const values = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 1 : -1));
  const error = Math.sqrt(100 / 99) / 10;
  expect(minimumDetectableEffect(pairs(values, 1)) / error).toBeCloseTo(2.8016, 4);
});

test('users that agree within themselves count once each', () => {
  const values = Array.from({ length: 100 }, (_, index) => (Math.floor(index / 4) % 2 === 0 ? 1 : -1));
  const alone = minimumDetectableEffect(pairs(values, 1));
  expect(minimumDetectableEffect(pairs(values, 4)) / alone).toBeCloseTo(2, 12);
  expect(minimumDetectableEffect(pairs([1], 1))).toBe(Infinity);
});
