import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeIn } from '../../scripts/open-parts.ts';
import { openDatabase } from '../../src/db/database.ts';
import { EmbeddingService } from '../../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/embedding/transformers-embedder.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { CheckInput } from '../../src/eval/analysis/checks/check.ts';
import { isolation } from '../../src/eval/analysis/checks/isolation.ts';
import { probeIsolation, type ProbeOptions } from '../../src/eval/run/isolation-probe.ts';
import type { KvStore } from '../../src/kv/kv-store.ts';
import type { CheckResult } from '../../src/records/results.ts';
import { MemoryRouter, type MemoryRouterOptions } from '../../src/retrieval/memory-router.ts';
import type { MemorySearchResult } from '../../src/retrieval/memory-search-result.ts';
import type { NewMemory } from '../../src/retrieval/new-memory.ts';
import { RouterRetriever } from '../../src/retrieval/router/router-retriever.ts';
import { chooseVectorBackend } from '../../src/retrieval/vectors/vector-backend.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';
import { MemoryKeeper } from '../../src/systems/memory-keeper.ts';
import type { OpenStore } from '../../src/systems/prefill/arm-store.ts';
import { realEngine } from '../fixtures/engines.ts';
import { replacing } from '../fixtures/replacing.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

/** One index for all users: the leak that the field's tools have. */
class UnscopedRouter extends MemoryRouter {
  override addMemories(memories: readonly NewMemory[]): Promise<number> {
    return super.addMemories(memories.map((memory) => ({ ...memory, userId: 'everybody' })));
  }

  override searchVector(vector: Float32Array, options: { readonly topK?: number | undefined }): MemorySearchResult[] {
    return super.searchVector(vector, { ...options, userId: 'everybody' });
  }
}

/** A store that finds K/V by content alone, whoever it was computed for. */
function unscoped(store: KvStore): KvStore {
  return replacing(store, {
    findCheckpoint: (_, key) => store.findCheckpoint('everybody', key),
    findBlock: (_, key) => store.findBlock('everybody', key),
    keepCheckpoint: (_, ...kept) => store.keepCheckpoint('everybody', ...kept),
    keepBlock: (_, ...kept) => store.keepBlock('everybody', ...kept),
  });
}

let engine: Engine;
let folder: TestFolder;
beforeAll(async () => {
  folder = new TestFolder();
  engine = await realEngine.open({ model: smallConfig(folder).model });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function judged(
  name: string,
  Router: new (embeddings: EmbeddingService, options: MemoryRouterOptions) => MemoryRouter,
  leaks: (store: KvStore) => KvStore = (store) => store,
  options: ProbeOptions = {},
): Promise<CheckResult> {
  using database = openDatabase({ path: ':memory:' });
  await using session = await engine.openSession(name);
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(smallConfig(folder).embedder));
  const router = new Router(embeddings, { backend: chooseVectorBackend().backend, topK: 5, threshold: -1 });
  const keeper = new MemoryKeeper(new RouterRetriever(router, embeddings), embeddings, database);
  const parts = {
    open: () => Promise.resolve({ engine, session }),
    memories: keeper,
    log: null,
    rules: { placement: 'chronological', labels: 'index' },
    topK: 5,
    threshold: -1,
    warn: () => undefined,
  } as const;
  const arms = armRegistry.named(['rag', 'rag-cached', 'dki', 'dki-blocks'], { alpha: 1, gatingThreshold: 0.7 });
  const systems = arms.map(({ traits, open }) => {
    const openScoped = storeIn(folder.file(`${name}-${traits.name}`), 2 ** 28);
    const openStore: OpenStore = async (opened) => {
      const { store } = await openScoped(opened);
      return { store: leaks(store), diskTiming: 'at-once' };
    };
    return { traits, system: open({ ...parts, openStore }) };
  });
  const probe = await probeIsolation({ runId: name, keeper, systems, topK: 5, threshold: -1 }, 3, options);
  for (const { system } of systems) await system[Symbol.asyncDispose]();
  return isolation({ probes: { isolation: probe }, randomWeights: false } as unknown as CheckInput);
}

describe('the isolation check', () => {
  it('passes where index and stores are scoped by user', async () => {
    expect(await judged('scoped', MemoryRouter)).toMatchObject({ status: 'passed' });
  });

  it('of a slow model asks five owners and their strangers, against the secrets of all, and says so', async () => {
    const few = await judged('few', MemoryRouter, undefined, { budgetMs: 0 });
    expect([few.status, few.evidence]).toEqual([
      'passed',
      expect.stringMatching(/in 5 of 5 answers .* in 10 answers of each, upper bound 30.8 %; .* served 5 users/),
    ]);
    const leaking = await judged('few-leaking', UnscopedRouter, undefined, { budgetMs: 0 });
    expect(leaking.status).toBe('failed');
    const sharing = await judged('few-sharing', MemoryRouter, unscoped, { budgetMs: 0 });
    expect(sharing.status).toBe('failed');
  });

  it('fails on an unscoped index', async () => {
    const { status, evidence } = await judged('index', UnscopedRouter);
    expect([status, evidence]).toEqual(['failed', expect.stringContaining("another's secret came out of")]);
  });

  it('fails on an unscoped store', async () => {
    const { status, evidence } = await judged('store', MemoryRouter, unscoped);
    expect([status, evidence]).toEqual(['failed', expect.stringContaining('K/V of another user served by')]);
  });
});
