import fc from 'fast-check';
import jstat from 'jstat';
import { expect, it } from 'vitest';
import { SeededRandom } from '../../src/config/seeded-random.ts';
import { bootstrapMean } from '../../src/eval/analysis/statistics/bootstrap.ts';
import { clopperPearson } from '../../src/eval/analysis/statistics/clopper-pearson.ts';
import { betaQuantile, incompleteBeta } from '../../src/eval/analysis/statistics/incomplete-beta.ts';
import { quantiles } from '../../src/eval/analysis/statistics/quantile.ts';
import { signFlipP } from '../../src/eval/analysis/statistics/sign-flip.ts';

const shape = fc.double({ min: 0.5, max: 300, noNaN: true });
const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });

it("gives jstat's incomplete beta function and its inverse", () => {
  fc.assert(
    fc.property(shape, shape, share, (a, b, p) => {
      expect(incompleteBeta(p, a, b)).toBeCloseTo(jstat.ibeta(p, a, b), 7);
      expect(betaQuantile(p, a, b)).toBeCloseTo(jstat.beta.inv(p, a, b), 5);
    }),
  );
});

it('gives the interval of Clopper and Pearson by quantiles of the beta distribution as jstat has them', () => {
  for (const [successes, n] of [
    [0, 30],
    [1, 30],
    [17, 40],
    [399, 400],
  ] as const) {
    const { low, high } = clopperPearson(successes, n);
    if (successes > 0) expect(low).toBeCloseTo(jstat.beta.inv(0.025, successes, n - successes + 1), 7);
    expect(high).toBeCloseTo(jstat.beta.inv(0.975, successes + 1, n - successes), 7);
  }
});

it("gives jstat's quantiles of type 7", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: 100, maxLength: 300 }),
      (values) => {
        const [p50, p95] = jstat.quantiles(values, [0.5, 0.95], 1, 1);
        const found = quantiles(values);
        expect(found.p50).toBeCloseTo(p50!, 9);
        expect(found.p95).toBeCloseTo(p95!, 9);
      },
    ),
  );
});

it('resamples to the interval that the central limit theorem gives for many users', () => {
  const random = new SeededRandom(3);
  const values = Array.from({ length: 400 }, () => random.float());
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const { low, high } = bootstrapMean(
    values.map((value, index) => ({ userId: `u${index}`, value })),
    7,
  );
  const error = Math.sqrt(variance / values.length);
  expect(low).toBeCloseTo(jstat.normal.inv(0.025, mean, error), 2);
  expect(high).toBeCloseTo(jstat.normal.inv(0.975, mean, error), 2);
});

it('flips signs to the p of the exact enumeration', () => {
  const differences = [0.3, -0.1, 0.4, 0.2, 0.25, -0.05, 0.15];
  const total = differences.reduce((sum, value) => sum + value, 0);
  let extreme = 0;
  for (let signs = 0; signs < 2 ** differences.length; signs++) {
    const sum = differences.reduce((part, value, index) => part + ((signs >> index) & 1 ? -value : value), 0);
    if (Math.abs(sum) >= Math.abs(total) - 1e-12) extreme++;
  }
  const p = signFlipP(
    differences.map((difference, index) => ({ userId: `u${index}`, a: difference, b: 0 })),
    5,
  );
  expect(p).toBeCloseTo(extreme / 2 ** differences.length, 2);
});
