import { expect, test } from 'vitest';
import { all, top } from '../../test/fixtures/next-distributions.ts';
import {
  compareScores,
  lnProbability,
  meanDivergence,
  type NextDistribution,
  type SequenceScore,
  toScore,
} from './sequence-score.ts';

test('scores a continuation from the probabilities at each position, and adds distributions on request', () => {
  const behind = [{ 0: 0.25, 1: 0.75 }, { 0: 1 }, { 2: 1 }].map(
    (listed) => new Map(Object.entries(listed).map(([id, probability]) => [Number(id), probability])),
  );
  const score = { next: all(0.25, 0.75, 0), logProbabilities: [Math.log(0.75), lnProbability(0)] };
  expect(toScore(behind, [1, 1], 3)).toStrictEqual(score);
  const distributions = [Float32Array.of(0.25, 0.75, 0), Float32Array.of(1, 0, 0)];
  expect(toScore(behind, [1, 1], 3, true)).toEqual({ ...score, distributions });
});

test('the mean divergence is in nats, and null for different lengths', () => {
  const even = Float32Array.of(0.5, 0.5);
  const [sure, other] = [Float32Array.of(1, 0), Float32Array.of(0.25, 0.75)];
  expect(meanDivergence([even, sure], [even, even])).toBeCloseTo(Math.LN2 / 2, 12);
  expect(meanDivergence([even], [other])).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 12);
  // Weighted by the reference, and finite if the other gives 0.
  expect(meanDivergence([even], [sure])).toBeCloseTo(0.5 * Math.log(0.5) + 0.5 * (Math.log(0.5) + 149 * Math.LN2), 9);
  expect(meanDivergence([even], [even, even])).toBeNull();
  expect(meanDivergence([even], [Float32Array.of(1, 0, 0)])).toBeNull();
  expect(meanDivergence([], [])).toBeNull();
});

test('any bit counts for equality, only relevant probabilities count for the difference', () => {
  const score: SequenceScore = { next: all(0.5, 0.5, 1e-9), logProbabilities: [-1] };
  expect(compareScores(score, score)).toEqual({ bitwiseEqual: true, largestDifference: 0 });
  const faint = { ...score, next: all(0.5, 0.5, 2e-9) };
  expect(compareScores(score, faint)).toEqual({ bitwiseEqual: false, largestDifference: 0 });
  const other = { next: all(0.25, 0.75, 1e-9), logProbabilities: [-1.5] };
  expect(compareScores(score, other).bitwiseEqual).toBe(false);
  expect(compareScores(score, other).largestDifference).toBeCloseTo(Math.LN2, 12);
  expect(compareScores(score, { ...score, logProbabilities: [-3] }).largestDifference).toBe(2);
  expect(compareScores(score, { ...score, logProbabilities: [] }).bitwiseEqual).toBe(false);
});

test('of lists of likeliest tokens, only tokens in both are compared', () => {
  const score = (next: NextDistribution): SequenceScore => ({ next, logProbabilities: [] });
  const listed = score(top([7, 0.5], [8, 0.2]));
  expect(compareScores(listed, listed).bitwiseEqual).toBe(true);
  expect(compareScores(listed, score(top([7, 0.25], [8, 0.2]))).largestDifference).toBeCloseTo(Math.LN2, 12);
  expect(compareScores(listed, score(top([7, 0.5], [9, 0.2])))).toEqual({ bitwiseEqual: false, largestDifference: 0 });
});
