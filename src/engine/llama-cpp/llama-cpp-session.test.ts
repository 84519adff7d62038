import { expect, test } from 'vitest';
import { chunkRule, chunkTokens } from './llama-cpp-session.ts';

function sizes(count: number, largest: number, lastAtLeast?: number, multiple = 1): number[] {
  const tokens = Array.from({ length: count }, (_, index) => index);
  const chunks = chunkTokens(tokens, { largest, multiple }, lastAtLeast);
  expect(chunks.flat()).toEqual(tokens);
  return chunks.map((chunk) => chunk.length);
}

test.each([
  [2, [2]],
  [512, [512]],
  [513, [511, 2]],
  [514, [512, 2]],
  [1024, [512, 512]],
  [1025, [512, 511, 2]],
])('chunks of %i tokens', (count, expected) => {
  expect(sizes(count, 512)).toEqual(expected);
});

test('no chunk is a single token, and the last has its minimum size', () => {
  for (let largest = 3; largest < 9; largest++) {
    for (let count = 2; count < 40; count++) {
      for (let last = 2; last < largest; last++) {
        const found = sizes(count, largest, last);
        expect(Math.min(...found)).toBeGreaterThan(1);
        expect(Math.max(...found)).toBeLessThanOrEqual(largest);
        expect(found.at(-1)).toBeGreaterThanOrEqual(Math.min(last, count));
      }
    }
  }
  expect(() => chunkTokens([7], { largest: 512, multiple: 1 })).toThrow(RangeError);
});

test('chunks end at multiples, and the last has its minimum size', () => {
  for (const multiple of [4, 8]) {
    for (let count = 2; count < 60; count++) {
      for (const last of [2, 5, 20]) {
        const found = sizes(count, 16, last, multiple);
        expect(found.slice(0, -1).every((size) => size > 0 && size % multiple === 0)).toBe(true);
        expect(found.at(-1)).toBeGreaterThanOrEqual(Math.min(last, count));
        expect(found.at(-1)).toBeLessThan(Math.max(16, last) + multiple);
      }
    }
  }
});

test.each([
  ['a model of a few million parameters', 3e6, 1, { largest: 512, multiple: 1 }],
  ['135 million parameters', 135e6, 1, { largest: 64, multiple: 1 }],
  ['7 billion parameters', 7e9, 4, { largest: 32, multiple: 4 }],
  ['an engine without exact cuts', 7e9, null, { largest: 512, multiple: 1 }],
])('chunks follow from the size of the model: %s', (_, parameters, exactCuts, rule) => {
  expect(chunkRule(512, parameters, exactCuts)).toEqual(rule);
});
