import { expect, it } from 'vitest';
import { nextTokenAgreement } from './next-token-agreement.ts';

it('is 0 for equal distributions, and agrees with a worked example in nats', () => {
  const even = Float64Array.of(0.5, 0.5);
  expect(nextTokenAgreement(even, even)).toEqual({ klDivergence: 0, topOne: true });
  // Cover and Thomas, Elements of Information Theory, example 2.3.1: (1−r) log((1−r)/(1−s)) + r log(r/s).
  const expected = 0.5 * Math.log(0.5 / 0.75) + 0.5 * Math.log(0.5 / 0.25);
  expect(nextTokenAgreement(Float64Array.of(0.75, 0.25), even).klDivergence).toBeCloseTo(expected, 12);
});

it('is finite if the arm gives probability 0 to what the reference expects, and sees another likeliest token', () => {
  const { klDivergence, topOne } = nextTokenAgreement(Float64Array.of(0, 1), Float64Array.of(0.9, 0.1));
  expect(klDivergence).toBeCloseTo(0.9 * Math.log(0.9 / 2 ** -149) + 0.1 * Math.log(0.1), 9);
  expect(topOne).toBe(false);
});
