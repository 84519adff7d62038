import { expect, it } from 'vitest';
import { presetModels } from '../../../models/preset-models.ts';
import { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../../models/embedding/transformers-embedder.ts';
import { MemoryRouter, RouterRetriever } from '../../../retrieval/memory-router.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import { exactBackend } from '../../../retrieval/vectors/exact-index.ts';
import { replacing } from '../../../../test/fixtures/replacing.ts';
import { probeRetriever } from './retriever-probe.ts';

const embeddings = new EmbeddingService(() => TransformersEmbedder.open(presetModels.embedder));

/** The probe of a router that changes what it found. */
function probed(change: (memories: readonly MemorySearchResult[]) => readonly MemorySearchResult[]) {
  const open = async () => {
    const router = new MemoryRouter(embeddings, { backend: exactBackend, topK: 5, threshold: -1 });
    const retriever = new RouterRetriever(router, embeddings);
    return replacing(retriever, {
      retrieve: async (query, options) => {
        const found = await retriever.retrieve(query, { ...options, topK: 100 });
        return { ...found, memories: change(found.memories).slice(0, options.topK) };
      },
    });
  };
  return probeRetriever(open, embeddings, ['en', 'zh']);
}

it('finds nothing wrong with the nearest memories', async () => {
  expect(await probed((memories) => memories)).toEqual({ questions: 16, wrong: [] });
});

it.each<[string, Parameters<typeof probed>[0]]>([
  ['the least similar ones', (memories) => memories.toReversed()],
  ['the second before the first', ([first, second, ...others]) => [second!, first!, ...others]],
  ['the newest first', (memories) => memories.toSorted((a, b) => (a.memoryId < b.memoryId ? 1 : -1))],
])('tells %s', async (_, change) => {
  expect((await probed(change)).wrong.length).toBeGreaterThan(8);
});
