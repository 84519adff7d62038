import fc from 'fast-check';
import { expect, test } from 'vitest';
import { betaQuantile, incompleteBeta } from './incomplete-beta.ts';

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
