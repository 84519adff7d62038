import { beforeEach, describe, expect, test } from 'vitest';
import { retrieverNames } from '../config/bench-config.ts';
import { readPreRetrievalConfig } from './hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from './open-retriever.ts';
import type { NewMemory, RetrieveOptions, Retriever } from './retriever.ts';
import { backend, embeddings } from '../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const options = { userId: 'ann', topK: 5, threshold: -1, passages: ['m1', 'm2'] };
const metadata = { createdAt: '2026-01-01T00:00:00Z' };
const memory = (userId: string | undefined, memoryId: string, content: string): NewMemory => {
  return { userId, memoryId, content, metadata };
};

describe.each(retrieverNames)('%s', (name) => {
  let retriever: Retriever;
  beforeEach(async () => {
    retriever = await openRetriever(name, {
      embeddings,
      backend,
      topK: 5,
      threshold: -1,
      namespace: 'run',
      folder: folder.file(name),
      tiers: { coldIndex: 'ivfflat' },
      countTokens: async (texts) => texts.map(() => 1),
      preRetrieval: readPreRetrievalConfig({}, 'defaults'),
    });
    await retriever.addMemories([memory('ann', 'm1', 'I drink green tea.')]);
    return () => retriever.close();
  });
  const contents = async (given: Partial<RetrieveOptions> = {}) =>
    (await retriever.retrieve('tea', { ...options, ...given })).memories.map(({ content }) => content).sort();

  test.each(['', ' \n\t', '\u3000'])('retrieves nothing for %j, and asks no embedder', async (query) => {
    expect(await contents()).toEqual(['I drink green tea.']);
    const { texts } = embeddings.stats();
    expect(await retriever.retrieve(query, options)).toEqual({
      strategy: name,
      memories: [],
      timingsMs: { embedding: 0, search: 0, ranking: 0 },
      flags: [],
      details: {},
    });
    expect(embeddings.stats().texts).toBe(texts);
    await expect(retriever.retrieve(query, { ...options, topK: -1 })).rejects.toThrow('topK is -1');
  });

  test('returns to a user only their memories, and without a user only memories without one', async () => {
    await retriever.addMemories([memory('bob', 'm1', 'I drink milk.'), memory(undefined, 'm1', 'I drink tea.')]);
    expect(await contents()).toEqual(['I drink green tea.']);
    expect(await contents({ userId: 'bob' })).toEqual(['I drink milk.']);
    expect(await contents({ userId: undefined })).toEqual(['I drink tea.']);
    expect(await contents({ userId: 'eve' })).toEqual([]);
    expect(await retriever.removeMemory('m1', 'eve')).toBe(false);
    expect(await retriever.removeMemory('m1', 'ann')).toBe(true);
    expect(await contents()).toEqual([]);
    expect(await contents({ userId: 'bob' })).toEqual(['I drink milk.']);
  });

  test('replaces a memory that is added again, of one batch too, and forgets one that is removed', async () => {
    await retriever.addMemories([memory('ann', 'm1', 'I drink coffee.'), memory('ann', 'm2', 'I like tea.')]);
    expect(await contents()).toEqual(['I drink coffee.', 'I like tea.']);
    await retriever.addMemories([memory('ann', 'm2', 'I like milk.'), memory('ann', 'm2', 'I like rice.')]);
    expect(await contents()).toEqual(['I drink coffee.', 'I like rice.']);
    expect(await retriever.removeMemory('m2', 'ann')).toBe(true);
    expect(await retriever.removeMemory('m2', 'ann')).toBe(false);
    await retriever.reset();
    expect(await contents()).toEqual(['I drink coffee.']);
    expect(await contents({ topK: 0 })).toEqual([]);
    await expect(contents({ topK: 1.5 })).rejects.toThrow('topK is 1.5');
  });
});
