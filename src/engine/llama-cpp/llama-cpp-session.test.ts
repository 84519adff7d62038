import { expect, test } from 'vitest';
import { chunkTokens, PrefillPace } from './llama-cpp-session.ts';

function sizes(count: number, largest: number, lastAtLeast?: number): number[] {
  const tokens = Array.from({ length: count }, (_, index) => index);
  const chunks = chunkTokens(tokens, largest, lastAtLeast);
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
  expect(() => chunkTokens([7], 512)).toThrow(RangeError);
  expect(() => chunkTokens([7, 8, 9], 512, 512)).toThrow('512 tokens do not stay together in chunks of 512');
});

const { signal } = new AbortController();

test('without a signal, and where bits depend on the cut, chunks are as large as can be', () => {
  expect(new PrefillPace(512, 7e9, true).largestChunk(undefined)).toBe(512);
  expect(new PrefillPace(512, 7e9, false).largestChunk(signal)).toBe(512);
});

test('a signal is looked at within a second, by the size of the model and then by its pace; some tokens go at once', () => {
  expect(new PrefillPace(512, 1.8e6, true).largestChunk(signal)).toBe(512);
  expect(new PrefillPace(512, 70e9, true).largestChunk(signal)).toBe(8);
  const pace = new PrefillPace(512, 135e6, true);
  expect(pace.largestChunk(signal) * 9).toBeLessThan(1000);
  for (let chunk = 0; chunk < 10; chunk++) pace.measured(100, 4000);
  expect(pace.largestChunk(signal)).toBe(20);
  for (let chunk = 0; chunk < 20; chunk++) pace.measured(100, 1);
  expect(pace.largestChunk(signal)).toBe(512);
  // The fixed cost of a call is no pace.
  pace.measured(2, 500);
  expect(pace.largestChunk(signal)).toBe(512);
});
