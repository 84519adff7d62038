import { expect, test } from 'vitest';
import { defaultWeights, parseSalienceWeights, writeSalienceWeights } from './salience-weights.ts';

test.each([
  ['semantic=0.7,recency=0.3', { semantic: 0.7, reinforcement: 0, recency: 0.3, access: 0 }],
  [' access = 1 ', { semantic: 0, reinforcement: 0, recency: 0, access: 1 }],
  ['semantic=0.7,recency=0.2,access=0.1', { semantic: 0.7, reinforcement: 0, recency: 0.2, access: 0.1 }],
])('%s', (text, weights) => expect(parseSalienceWeights(text)).toEqual(weights));

test.each([
  '',
  'semantic=0.5',
  'semantic=1,recency=0.1',
  'semantic=0.5,semantic=0.5',
  'meaning=1',
  'semantic=-1,access=2',
  'semantic=1=1',
  'semantic=NaN',
])('no weights: %j', (text) => expect(parseSalienceWeights(text)).toBeUndefined());

test('are read as they were written', () => {
  expect(parseSalienceWeights(writeSalienceWeights(defaultWeights))).toEqual(defaultWeights);
});
