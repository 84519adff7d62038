import { describe, expect, test } from 'vitest';
import { retrieverNames } from '../config/retriever-names.ts';
import { readPreRetrievalConfig } from './hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from './open-retriever.ts';
import { backend, embeddings } from '../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const options = { userId: 'ann', topK: 5, threshold: -1, passages: ['m1'] };

describe.each(retrieverNames)('%s', (name) => {
  test.each(['', ' \n\t', '\u3000'])('retrieves nothing for %j, and asks no embedder', async (query) => {
    const retriever = await openRetriever(name, {
      embeddings,
      backend: backend,
      ...{ topK: 5, threshold: -1, namespace: 'run', folder: folder.file(name) },
      tiers: { coldIndex: 'ivfflat' },
      countTokens: async (texts) => texts.map(() => 1),
      preRetrieval: readPreRetrievalConfig({}, 'defaults'),
    });
    await retriever.addMemories([{ memoryId: 'm1', userId: 'ann', content: 'I drink green tea.' }]);
    const found = await retriever.retrieve('tea', options);
    expect(found.memories.map(({ memoryId }) => memoryId)).toEqual(['m1']);
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
    await retriever.close();
  });
});
