import { beforeEach, expect, test } from 'vitest';
import { expectFailure } from '../../test/fixtures/bench-failure.ts';
import type { RetrieveOptions } from './retriever.ts';
import { GivenRetriever, requireSearchingRetriever } from './given-retriever.ts';

let retriever: GivenRetriever;
beforeEach(async () => {
  retriever = new GivenRetriever();
  const ofAnn = ['m1', 'm2', 'm3', 'm4'].map((memoryId) => ({
    userId: 'ann',
    memoryId,
    content: `${memoryId} of ann`,
  }));
  await retriever.addMemories([...ofAnn, { userId: 'bob', memoryId: 'm1', content: 'm1 of bob' }]);
});

const ask = (passages: readonly string[] | undefined, options: Partial<RetrieveOptions> = {}) =>
  retriever.retrieve('Where?', { userId: 'ann', topK: 5, threshold: -1, passages, ...options });
const contents = async (...asked: Parameters<typeof ask>) =>
  (await ask(...asked)).memories.map(({ content }) => content);

test('returns the listed memories in order, each once, at most topK', async () => {
  expect(await contents(['m3', 'm1', 'm3', 'm2'])).toEqual(['m3 of ann', 'm1 of ann', 'm2 of ann']);
  expect(await contents(['m3', 'm1', 'm2'], { topK: 2 })).toEqual(['m3 of ann', 'm1 of ann']);
  expect(await contents(['m2', 'm1'], { userId: 'bob' })).toEqual(['m1 of bob']);
  expect(await contents([])).toEqual([]);
  expect(retriever.stats()).toEqual({ memories: 5 });
});

test('reports how many listed memories are not stored', async () => {
  const { flags } = await ask(['m9', 'm2', 'm8']);
  expect(flags).toEqual([{ flag: 'degraded', reason: '2 of 3 listed memories are not stored' }]);
  expect((await ask(['m2'])).flags).toEqual([]);
});

test('refuses a question without a list', async () => {
  await expectFailure(ask(undefined), 'bad-option', 'retriever given: the question has no list of passages');
});

test('is refused for questions that come from no data set', () => {
  expect(() => requireSearchingRetriever('given')).toThrow('--retriever given: only items of a data set list passages');
  expect(() => requireSearchingRetriever('hinted')).not.toThrow();
});
