import { expect, test } from 'vitest';
import { all, top } from '../../test/fixtures/next-distributions.ts';
import { likeliestTokens, lnProbability, normalisedEntropy, tokenProbability } from './sequence-score.ts';

test('ln p is finite where an engine rounds a probability to 0', () => {
  expect(lnProbability(0.75)).toBe(Math.log(0.75));
  expect(lnProbability(0)).toBeCloseTo(-149 * Math.LN2, 10);
});

test('the probability of a token is known over the whole vocabulary, or of the likeliest alone', () => {
  expect(tokenProbability(all(0.25, 0.75), 0)).toBe(0.25);
  expect(tokenProbability(all(0.25, 0.75), 2)).toBeUndefined();
  expect(tokenProbability(top([9, 0.5], [3, 0.2]), 3)).toBe(0.2);
  expect(tokenProbability(top([9, 0.5], [3, 0.2]), 4)).toBeUndefined();
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
