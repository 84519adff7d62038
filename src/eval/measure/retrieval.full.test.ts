import { expect, test } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { presetModels } from '../../config/models/preset-models.ts';
import { loadBenchConfig } from '../../config/load-config.ts';
import { EmbeddingService } from '../../embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../embedding/transformers-embedder.ts';
import { MemoryRouter } from '../../retrieval/memory-router.ts';
import { RouterRetriever } from '../../retrieval/router/router-retriever.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/vector-backend.ts';
import { measureRetrieval } from './retrieval.ts';

const embedder = presetModels.embedder;

test.each([
  [{}, [undefined]],
  [{ cold: 'postgres://127.0.0.1/x' }, [undefined, 'ivfflat-approximate']],
  [{ cold: 'postgres://127.0.0.1/x', coldIndex: 'ivfflat-approximate' }, [undefined]],
])(
  'measures tiered by the probes of pgvector besides, where there is one: %j',
  async (flags, indexes) => {
    const embeddings = new EmbeddingService(() => TransformersEmbedder.open(embedder));
    const { backend } = chooseVectorBackend();
    const opened: (readonly [string, string | undefined])[] = [];
    const { rows } = await measureRetrieval({
      config: loadBenchConfig({ flags: { suite: 'retrieval', ...flags }, environment: {} }),
      users: [],
      folder: '',
      signal: new AbortController().signal,
      engines: fakeAdapter.opener({}),
      // The router in place of each: what is asked for is the question, not what it finds.
      openRetriever: (name, coldIndex) => {
        opened.push([name, coldIndex]);
        const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: -1 });
        return Promise.resolve(new RouterRetriever(router, embeddings));
      },
    });
    expect(opened.filter(([name]) => name === 'tiered').map(([, coldIndex]) => coldIndex)).toEqual(indexes);
    const strategies = rows.filter(({ kind }) => kind === 'all').map(({ strategy }) => strategy);
    expect(strategies).toHaveLength(3 + indexes.length);
    expect(strategies.includes('tiered, ivfflat-approximate')).toBe(indexes.length === 2);
    const differences = rows.flatMap(({ againstRouter }) => againstRouter?.delta ?? []);
    expect(differences).toHaveLength(7 * (2 + indexes.length));
    expect(new Set(differences)).toEqual(new Set([0]));
  },
  120_000,
);
