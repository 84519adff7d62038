import { expect, test } from 'vitest';
import { PrefillPace } from './prefill-pace.ts';

const { signal } = new AbortController();

test('without a signal, and where bits depend on the cut, chunks are as large as can be', () => {
  expect(new PrefillPace(512, 7e9, true).largestChunk(undefined)).toBe(512);
  expect(new PrefillPace(512, 7e9, false).largestChunk(signal)).toBe(512);
});

test('a signal is looked at within a second, by the size of the model and then by its measured pace', () => {
  expect(new PrefillPace(512, 1.8e6, true).largestChunk(signal)).toBe(512);
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

test('however slow the model, some tokens are evaluated at once', () => {
  expect(new PrefillPace(512, 70e9, true).largestChunk(signal)).toBe(8);
});
