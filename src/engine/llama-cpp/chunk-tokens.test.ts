import { describe, expect, test } from 'vitest';
import { chunkTokens } from './chunk-tokens.ts';

function sizes(count: number, largest: number, lastAtLeast?: number): number[] {
  const tokens = Array.from({ length: count }, (_, index) => index);
  const chunks = chunkTokens(tokens, largest, lastAtLeast);
  expect(chunks.flat()).toEqual(tokens);
  return chunks.map((chunk) => chunk.length);
}

describe('chunkTokens', () => {
  test.each([
    [2, [2]],
    [512, [512]],
    [513, [511, 2]],
    [514, [512, 2]],
    [1024, [512, 512]],
    [1025, [512, 511, 2]],
  ])('%i tokens', (count, expected) => {
    expect(sizes(count, 512)).toEqual(expected);
  });

  test('no chunk is ever a single token, and the last keeps together what it must', () => {
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
  });

  test('refuses a single token, and a last chunk that fills a whole one', () => {
    expect(() => chunkTokens([7], 512)).toThrow(RangeError);
    expect(() => chunkTokens([7, 8, 9], 512, 512)).toThrow('512 tokens do not stay together in chunks of 512');
  });
});
