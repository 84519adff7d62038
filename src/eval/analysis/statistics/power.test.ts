import { expect, test } from 'vitest';
import type { PairedDifference } from './paired-difference.ts';
import { minimumDetectableEffect, neededItems } from './verdict.ts';

const difference = (changes: Partial<PairedDifference>): PairedDifference => ({
  ...{ delta: 0, interval: { low: -0.05, high: 0.05 }, error: 0.02, items: 200, pAbove: () => 1 },
  ...changes,
});

test("is Bloom's 2.80 standard errors", () => {
  expect(minimumDetectableEffect({ error: 0.1 })).toBeCloseTo(0.28, 2);
});

test('needs enough items that the standard error is the margin ÷ 2.80, and more for several arms', () => {
  const one = neededItems(difference({}), 0.02, { tests: 1, effect: undefined })!;
  expect(one / 200).toBeCloseTo(2.8016 ** 2, 2);
  expect(neededItems(difference({}), 0.02, { tests: 4, effect: undefined })).toBeGreaterThan(one);
});

test('if no pair differs, needs as many items as refute the margin with ties alone', () => {
  // n · margin = 1.96² · (1 − margin) · 1.5
  const ties = difference({ error: 0 });
  expect(neededItems(ties, 0.02, { tests: 1, effect: 1.5 })).toBe(Math.ceil((1.5 * 1.959964 ** 2 * 0.98) / 0.02));
});

test('names no number of items where it would be meaningless', () => {
  const of = (changes: Partial<PairedDifference>, margin = 0.02) =>
    neededItems(difference(changes), margin, { tests: 1, effect: 1 });
  // A loss that is nearly certain; no margin; one unit; items enough, which happened to differ.
  expect(of({ interval: { low: -0.1, high: -0.01 } })).toBeUndefined();
  expect(of({}, 0)).toBeUndefined();
  expect(of({ error: Infinity })).toBeUndefined();
  expect(of({ error: 0.001 })).toBeUndefined();
});
