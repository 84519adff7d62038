import { beforeEach, describe, expect, test } from 'vitest';
import type { NewMemory, RetrieveOptions } from './retriever.ts';
import { GivenRetriever, requireSearching } from './given-retriever.ts';

const memory = (userId: string | undefined, memoryId: string, content = `${memoryId} of ${userId}`): NewMemory => ({
  ...{ userId, memoryId, content },
  metadata: { createdAt: '2026-01-01T00:00:00Z' },
});

let retriever: GivenRetriever;
beforeEach(async () => {
  retriever = new GivenRetriever();
  await retriever.addMemories(['m1', 'm2', 'm3', 'm4'].map((id) => memory('ann', id)));
  await retriever.addMemories([memory('bob', 'm1'), memory(undefined, 'm9')]);
});

const ask = (passages: readonly string[] | undefined, options: Partial<RetrieveOptions> = {}) =>
  retriever.retrieve('Where?', { userId: 'ann', topK: 5, threshold: -1, passages, ...options });
const contents = async (...asked: Parameters<typeof ask>) =>
  (await ask(...asked)).memories.map(({ content }) => content);

describe('the retriever given', () => {
  test('gives the memories of a list in its order, each once, cut to the number that is wanted', async () => {
    expect(await contents(['m3', 'm1', 'm3', 'm2'])).toEqual(['m3 of ann', 'm1 of ann', 'm2 of ann']);
    expect(await contents(['m3', 'm1', 'm2'], { topK: 2 })).toEqual(['m3 of ann', 'm1 of ann']);
    expect(await contents(['m3'], { topK: 0 })).toEqual([]);
    expect(await contents([])).toEqual([]);
  });

  test('gives nobody the memories of another, and says how many of a list are not there', async () => {
    expect(await contents(['m2', 'm1'], { userId: 'bob' })).toEqual(['m1 of bob']);
    expect(await contents(['m9'], { userId: undefined })).toEqual(['m9 of undefined']);
    const { flags } = await ask(['m9', 'm2', 'm8']);
    expect(flags).toEqual([{ flag: 'degraded', reason: '2 of 3 listed memories are not there' }]);
    expect((await ask(['m2'])).flags).toEqual([]);
    expect(await contents(['m1'], { userId: 'stranger' })).toEqual([]);
  });

  test('follows memories that are replaced and removed', async () => {
    await retriever.addMemories([memory('ann', 'm2', 'new')]);
    expect(await retriever.removeMemory('m1', 'ann')).toBe(true);
    expect(await retriever.removeMemory('m1', 'ann')).toBe(false);
    expect(await retriever.removeMemory('m1', 'stranger')).toBe(false);
    expect(await contents(['m1', 'm2'])).toEqual(['new']);
    expect(retriever.stats()).toEqual({ memories: 5 });
    await retriever.reset();
    expect(await contents(['m2'])).toEqual(['new']);
  });

  test('refuses a question without a list, and a number that is none', async () => {
    await expect(ask(undefined)).rejects.toMatchObject({
      code: 'bad-option',
      message: 'retriever given: a question came without a list of passages',
    });
    await expect(ask([], { topK: -1 })).rejects.toMatchObject({ code: 'bad-option', message: 'topK is -1' });
  });

  test('is refused where no data set asks', () => {
    expect(() => requireSearching('given')).toThrow('--retriever given: only the items of a data set list passages');
    expect(() => requireSearching('hinted')).not.toThrow();
  });
});
