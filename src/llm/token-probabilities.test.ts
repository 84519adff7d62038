import { expect, test } from 'vitest';
import { compareScores, normalisedEntropy, toScore } from './token-probabilities.ts';

test('reads a continuation off the probabilities after each position', () => {
  const after = [
    new Map([
      [0, 0.25],
      [1, 0.75],
    ]),
    new Map([
      [0, 1],
      [1, 0],
    ]),
  ];
  const score = toScore(after, [1, 1], 3);
  expect(score.nextProbabilities).toEqual(Float64Array.of(0.25, 0.75, 0));
  expect(score.logProbabilities[0]).toBe(Math.log(0.75));
  // Rounded to 0 by llama.cpp: finite all the same.
  expect(score.logProbabilities[1]).toBeCloseTo(-149 * Math.LN2, 10);
});

test('entropy is 0 where one token is certain and 1 where all are alike', () => {
  expect(normalisedEntropy([1, 0, 0, 0], 4)).toBe(0);
  expect(normalisedEntropy([0.25, 0.25, 0.25, 0.25], 4)).toBe(1);
  expect(normalisedEntropy([0.5, 0.5, 0, 0], 4)).toBeCloseTo(0.5, 12);
});

test('any bit counts for equality, and only what matters for the difference', () => {
  const score = { nextProbabilities: Float64Array.of(0.5, 0.5, 1e-9), logProbabilities: [-1] };
  expect(compareScores(score, score)).toEqual({ bitwiseEqual: true, largestDifference: 0 });
  const faint = { ...score, nextProbabilities: Float64Array.of(0.5, 0.5, 2e-9) };
  expect(compareScores(score, faint)).toEqual({ bitwiseEqual: false, largestDifference: 0 });
  const other = { nextProbabilities: Float64Array.of(0.25, 0.75, 1e-9), logProbabilities: [-1.5] };
  expect(compareScores(score, other).bitwiseEqual).toBe(false);
  expect(compareScores(score, other).largestDifference).toBeCloseTo(Math.LN2, 12);
  expect(compareScores(score, { ...score, logProbabilities: [-3] }).largestDifference).toBe(2);
});
