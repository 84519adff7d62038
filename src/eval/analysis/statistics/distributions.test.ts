import fc from 'fast-check';
import { expect, test } from 'vitest';
import { betaQuantile, incompleteBeta, studentQuantile, studentTail } from './distributions.ts';

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

test('the quantile inverts it', () => {
  expect(incompleteBeta(betaQuantile(0.975, 3.5, 40), 3.5, 40)).toBeCloseTo(0.975, 10);
});

test('gives the values of printed tables', () => {
  expect(studentQuantile(0.025, 1)).toBeCloseTo(12.7062, 4);
  expect(studentQuantile(0.025, 9)).toBeCloseTo(2.2622, 4);
  expect(studentQuantile(0.005, 30)).toBeCloseTo(2.75, 4);
  expect(studentQuantile(0.025, 1e6)).toBeCloseTo(1.96, 3);
});

test('tail and quantile undo each other, on both sides of zero', () => {
  for (const freedom of [1, 4, 19]) {
    expect(studentTail(studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.1, 10);
    expect(studentTail(-studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.9, 10);
  }
  expect(studentTail(0, 5)).toBeCloseTo(0.5, 12);
  expect([studentTail(Infinity, 5), studentTail(-Infinity, 5)]).toEqual([0, 1]);
});
