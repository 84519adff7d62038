import { expect, it } from 'vitest';
import { didYouMean, nearestName } from './bench-error.ts';

const arms = ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-parallel'];

it.each([
  ['dki-blck', 'dki-blocks'],
  ['DKI', 'dki'],
  ['ragcached', 'rag-cached'],
  ['dik-paralel', 'dki-parallel'],
])('takes %s for %s', (typed, meant) => {
  expect(nearestName(typed, arms)).toBe(meant);
});

it('suggests nothing if no name is similar', () => {
  expect(nearestName('xyz', arms)).toBeUndefined();
  expect(didYouMean('full-context', arms)).toBe('');
  expect(didYouMean('rga-cached', arms)).toBe(': did you mean rag-cached?');
});

it.each([
  ['dki\u200b', 'dki', 'U+200B'],
  ['ragcached', 'rag\u00adcached', 'U+00AD'],
])('names the invisible characters in %j or %j', (typed, meant, character) => {
  expect(didYouMean(typed, [meant])).toBe(`: ${meant} looks the same except for invisible characters (${character})`);
});
