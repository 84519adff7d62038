import { expect, test } from 'vitest';
import { retrievalTimes } from './times.ts';

test('every retrieval is made once, and counts by search and ranking, not by embedding or by the clock', async () => {
  const asked: number[] = [];
  const times = await retrievalTimes(5, async (index) => {
    asked.push(index);
    return { timingsMs: { embedding: 1_000, search: 10 - index, ranking: 0.5 } };
  });
  expect(times).toEqual([6.5, 7.5, 8.5, 9.5, 10.5]);
  expect(asked).toEqual([0, 1, 2, 3, 4]);
});

test('a retrieval that fails ends the measurement with its error', async () => {
  const failing = retrievalTimes(3, () => Promise.reject(new Error('no answer')));
  await expect(failing).rejects.toThrow('no answer');
});
