import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clopperPearson } from './clopper-pearson.ts';
import { incompleteBeta } from './incomplete-beta.ts';

test('agrees with published intervals', () => {
  // 1 − 0.025^(1/20), the closed form for no successes.
  expect(clopperPearson(0, 20)).toEqual({ low: 0, high: expect.closeTo(0.16843, 5) });
  expect(clopperPearson(20, 20)).toEqual({ low: expect.closeTo(0.83157, 5), high: 1 });
  // R's help page of binom.test: Mendel's peas, 682 of 925.
  expect(clopperPearson(682, 925)).toEqual({ low: expect.closeTo(0.7076683, 6), high: expect.closeTo(0.7654066, 6) });
});

test('bounds are where the binomial tails are 2.5 %, for fractional n too', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 10, max: 500, noNaN: true }),
      fc.double({ min: 0.05, max: 0.95, noNaN: true }),
      (n, share) => {
        const successes = share * n;
        const { low, high } = clopperPearson(successes, n);
        expect(low).toBeLessThan(share);
        expect(high).toBeGreaterThan(share);
        expect(incompleteBeta(low, successes, n - successes + 1)).toBeCloseTo(0.025, 8);
        expect(incompleteBeta(high, successes + 1, n - successes)).toBeCloseTo(0.975, 8);
      },
    ),
  );
});

test('refuses what is no proportion', () => {
  expect(() => clopperPearson(3, 2)).toThrow(/3 in 2/);
  expect(() => clopperPearson(0, 0)).toThrow(RangeError);
});
