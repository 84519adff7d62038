import { expect, test } from 'vitest';
import {
  compareScores,
  likeliestTokens,
  logProbabilityOf,
  meanDivergence,
  type NextDistribution,
  normalisedEntropy,
  probabilityOf,
  type SequenceScore,
  toScore,
} from './sequence-score.ts';

const all = (...probabilities: number[]): NextDistribution => ({
  span: 'all',
  probabilities: Float64Array.from(probabilities),
});
const top = (...pairs: [number, number][]): NextDistribution => ({
  span: 'top',
  tokens: pairs.map(([id, probability]) => ({ id, probability })),
});

test('ln p is finite where an engine rounds a probability to 0', () => {
  expect(logProbabilityOf(0.75)).toBe(Math.log(0.75));
  expect(logProbabilityOf(0)).toBeCloseTo(-149 * Math.LN2, 10);
});

test('reads a continuation off the probabilities behind each position, and keeps the distributions where it is asked to', () => {
  const behind = [{ 0: 0.25, 1: 0.75 }, { 0: 1 }, { 2: 1 }].map(
    (listed) => new Map(Object.entries(listed).map(([id, probability]) => [Number(id), probability])),
  );
  const score = { next: all(0.25, 0.75, 0), logProbabilities: [Math.log(0.75), logProbabilityOf(0)] };
  expect(toScore(behind, [1, 1], 3)).toStrictEqual(score);
  const distributions = [Float32Array.of(0.25, 0.75, 0), Float32Array.of(1, 0, 0)];
  expect(toScore(behind, [1, 1], 3, true)).toEqual({ ...score, distributions });
});

test('the mean divergence of a continuation is in nats, and null where the two are not of one length', () => {
  const even = Float32Array.of(0.5, 0.5);
  const [sure, other] = [Float32Array.of(1, 0), Float32Array.of(0.25, 0.75)];
  expect(meanDivergence([even, sure], [even, even])).toBeCloseTo(Math.LN2 / 2, 12);
  expect(meanDivergence([even], [other])).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 12);
  // Towards the reference, and finite where the other gives 0.
  expect(meanDivergence([even], [sure])).toBeCloseTo(0.5 * Math.log(0.5) + 0.5 * (Math.log(0.5) + 149 * Math.LN2), 9);
  expect(meanDivergence([even], [even, even])).toBeNull();
  expect(meanDivergence([even], [Float32Array.of(1, 0, 0)])).toBeNull();
  expect(meanDivergence([], [])).toBeNull();
});

test('the probability of a token is known over the whole vocabulary, or of the likeliest alone', () => {
  expect(probabilityOf(all(0.25, 0.75), 0)).toBe(0.25);
  expect(probabilityOf(all(0.25, 0.75), 2)).toBeUndefined();
  expect(probabilityOf(top([9, 0.5], [3, 0.2]), 3)).toBe(0.2);
  expect(probabilityOf(top([9, 0.5], [3, 0.2]), 4)).toBeUndefined();
});

test('the likeliest tokens come likeliest first, of equal ones the lower id first', () => {
  const listed = [
    { id: 2, probability: 0.4 },
    { id: 1, probability: 0.25 },
    { id: 3, probability: 0.25 },
  ];
  expect(likeliestTokens(all(0.1, 0.25, 0.4, 0.25), 3)).toEqual(listed);
  expect(likeliestTokens(all(0.1, 0.25, 0.4, 0.25), 1)).toEqual(listed.slice(0, 1));
  expect(likeliestTokens(all(0.3, 0.7), 5)).toHaveLength(2);
  expect(likeliestTokens(top([2, 0.4], [1, 0.25]), 1)).toEqual(listed.slice(0, 1));
});

test('entropy is 0 where one token is certain and 1 where all are alike', () => {
  expect(normalisedEntropy(all(1, 0, 0, 0), 4)).toBe(0);
  expect(normalisedEntropy(all(0.25, 0.25, 0.25, 0.25), 4)).toBe(1);
  expect(normalisedEntropy(all(0.5, 0.5, 0, 0), 4)).toBeCloseTo(0.5, 12);
});

test('entropy sums the likeliest first, whatever the order of the ids', () => {
  const probabilities = Array.from({ length: 1000 }, (_, index) => (index + 1) / 500_500);
  const shuffled = probabilities.toSorted((a, b) => Math.sin(a * 1e7) - Math.sin(b * 1e7));
  expect(normalisedEntropy(all(...shuffled), 1000)).toBe(normalisedEntropy(all(...probabilities), 1000));
});

test('entropy of the likeliest tokens counts the rest as one token: a lower bound', () => {
  expect(normalisedEntropy(top([0, 0.5], [1, 0.25]), 4)).toBeCloseTo(0.75, 12);
  expect(normalisedEntropy(all(0.5, 0.25, 0.125, 0.125), 4)).toBeCloseTo(0.875, 12);
});

test('any bit counts for equality, and only what matters for the difference', () => {
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

test('of distributions that list the likeliest tokens alone, those that both list are compared', () => {
  const score = (next: NextDistribution): SequenceScore => ({ next, logProbabilities: [] });
  const listed = score(top([7, 0.5], [8, 0.2]));
  expect(compareScores(listed, listed).bitwiseEqual).toBe(true);
  expect(compareScores(listed, score(top([7, 0.25], [8, 0.2]))).largestDifference).toBeCloseTo(Math.LN2, 12);
  expect(compareScores(listed, score(top([7, 0.5], [9, 0.2])))).toEqual({ bitwiseEqual: false, largestDifference: 0 });
});
