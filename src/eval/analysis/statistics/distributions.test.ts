import fc from 'fast-check';
import { expect, test } from 'vitest';
import { incompleteBeta, studentQuantile, studentTail } from './distributions.ts';

test('agrees with closed forms', () => {
  // I₀.₅(2, 3) = P(Binomial(4, ½) ≥ 2) = 11/16.
  expect(incompleteBeta(0.5, 2, 3)).toBeCloseTo(0.6875, 12);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0.1, max: 300, noNaN: true }), (x, b) => {
      expect(incompleteBeta(x, 1, b)).toBeCloseTo(1 - (1 - x) ** b, 10);
      expect(incompleteBeta(x, b, 1)).toBeCloseTo(x ** b, 10);
    }),
  );
});

test('tail and quantile of Student undo each other, on both sides of zero, and give the values of printed tables', () => {
  expect(studentQuantile(0.005, 30)).toBeCloseTo(2.75, 4);
  expect(studentQuantile(0.025, 1e6)).toBeCloseTo(1.96, 3);
  for (const freedom of [1, 4, 19]) {
    expect(studentTail(studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.1, 10);
    expect(studentTail(-studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.9, 10);
  }
  expect([0, Infinity, -Infinity].map((value) => studentTail(value, 5))).toEqual([expect.closeTo(0.5, 12), 0, 1]);
});
