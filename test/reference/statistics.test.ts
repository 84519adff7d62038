import fc from 'fast-check';
import jstat from 'jstat';
import { expect, it } from 'vitest';
import { tangoScore } from '../../src/eval/analysis/statistics/paired-difference.ts';
import { quantiles } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { signFlipP } from '../../src/eval/analysis/statistics/p-values.ts';
import {
  betaQuantile,
  incompleteBeta,
  studentQuantile,
  studentTail,
} from '../../src/eval/analysis/statistics/distributions.ts';
import { likeliestLosses } from './second-statistics.ts';

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

it("gives jstat's t: tails and quantiles", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.double({ min: -6, max: 6, noNaN: true }), (freedom, value) => {
      expect(studentTail(value, freedom)).toBeCloseTo(1 - jstat.studentt.cdf(value, freedom), 7);
      expect(studentQuantile(0.025, freedom)).toBeCloseTo(jstat.studentt.inv(0.975, freedom), 4);
    }),
    { numRuns: 50, examples: [[128, -1.111101974871076e-7]] },
  );
});

it("scores paired shares by Tango's likelihood, maximised without his formula", () => {
  const counts = fc.record({ wins: fc.nat(12), losses: fc.nat(12), ties: fc.integer({ min: 5, max: 60 }) });
  fc.assert(
    fc.property(counts, fc.double({ min: -0.5, max: 0.5, noNaN: true }), ({ wins, losses, ties }, difference) => {
      const pairs = wins + losses + ties;
      const loss = likeliestLosses(pairs, wins, losses, difference);
      const variance = (2 * loss + difference - difference ** 2) / pairs;
      if (variance < 1e-6) return;
      const score = ((wins - losses) / pairs - difference) / Math.sqrt(variance);
      expect(tangoScore({ pairs, wins, losses }, difference)).toBeCloseTo(score, 3);
    }),
    { numRuns: 60 },
  );
});

it('draws flips near the p of all of them where there are too many to try', () => {
  const sums = Array.from({ length: 18 }, (_, user) => (user % 4 === 0 ? -1 : 0.6));
  const total = Math.abs(sums.reduce((sum, value) => sum + value, 0));
  let extreme = 0;
  for (let signs = 0; signs < 2 ** 18; signs++) {
    let sum = 0;
    for (let user = 0; user < 18; user++) sum += (signs >> user) & 1 ? -sums[user]! : sums[user]!;
    if (Math.abs(sum) >= total - 1e-9) extreme++;
  }
  expect(Math.abs(signFlipP({ sums }, 5) - extreme / 2 ** 18)).toBeLessThan(0.015);
});
