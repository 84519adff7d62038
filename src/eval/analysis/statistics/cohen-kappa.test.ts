import { expect, it } from 'vitest';
import { verdictAgreement } from './cohen-kappa.ts';

/** Pairs by how often both say yes, the first alone, the second alone, neither. */
const table = (both: number, first: number, second: number, neither: number) => [
  ...Array.from({ length: both }, () => [true, true] as const),
  ...Array.from({ length: first }, () => [true, false] as const),
  ...Array.from({ length: second }, () => [false, true] as const),
  ...Array.from({ length: neither }, () => [false, false] as const),
];

it('gives the values of worked examples', () => {
  // Grant proposals of two readers: agreement 0.7, by chance 0.5.
  expect(verdictAgreement(table(20, 5, 10, 15))).toEqual({ n: 50, share: 0.7, kappa: expect.closeTo(0.4, 12) });
  // The same agreement at two rates (Smeeton 1985).
  expect(verdictAgreement(table(45, 15, 25, 15))?.kappa).toBeCloseTo(0.1304, 4);
  expect(verdictAgreement(table(25, 35, 5, 35))?.kappa).toBeCloseTo(0.2593, 4);
});

it('is 1 where both always agree, −1 where they never do, 0 by chance', () => {
  expect(verdictAgreement(table(3, 0, 0, 2))).toEqual({ n: 5, share: 1, kappa: 1 });
  expect(verdictAgreement(table(0, 2, 2, 0))).toEqual({ n: 4, share: 0, kappa: -1 });
  expect(verdictAgreement(table(1, 1, 1, 1))).toEqual({ n: 4, share: 0.5, kappa: 0 });
});

it('has no kappa where nobody ever says anything else, and nothing without a pair', () => {
  expect(verdictAgreement(table(7, 0, 0, 0))).toEqual({ n: 7, share: 1, kappa: null });
  expect(verdictAgreement([])).toBeNull();
});
