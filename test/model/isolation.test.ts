import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { EmbeddingService } from '../../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/embedding/transformers-embedder.ts';
import type { GateInput } from '../../src/eval/gates/gate.ts';
import { isolation } from '../../src/eval/gates/isolation.ts';
import { armsNamed } from '../../src/eval/run/arms.ts';
import { probeIsolation } from '../../src/eval/run/isolation-probe.ts';
import { ItemStage } from '../../src/eval/run/item-stage.ts';
import { StateStore, type StoredState } from '../../src/kv/state-store.ts';
import { LanguageModel } from '../../src/llm/language-model.ts';
import { MemoryRouter, type MemoryRouterOptions } from '../../src/memory/memory-router.ts';
import type { MemorySearchResult } from '../../src/memory/memory-search-result.ts';
import type { NewMemory } from '../../src/memory/new-memory.ts';
import { RouterRetriever } from '../../src/memory/strategies/router/router-retriever.ts';
import { chooseVectorBackend } from '../../src/memory/vector-backend.ts';
import { MemoryKeeper } from '../../src/systems/memory-keeper.ts';
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

/** Finds K/V by content alone, whoever it was computed for. */
class UnscopedStore extends StateStore {
  override find(_userId: string, key: string): StoredState | undefined {
    return super.find('everybody', key);
  }

  override keep(_userId: string, ...rest: Parameters<StateStore['keep']> extends [string, ...infer R] ? R : never) {
    return super.keep('everybody', ...rest);
  }
}

let model: LanguageModel;
let folder: TestFolder;
beforeAll(async () => {
  folder = new TestFolder();
  model = await LanguageModel.load({ modelPath: smallConfig(folder).model, sequences: 4 });
});
afterAll(async () => {
  await model.dispose();
  folder[Symbol.dispose]();
});

async function judged(
  name: string,
  Router: new (embeddings: EmbeddingService, options: MemoryRouterOptions) => MemoryRouter,
  Store: new (root: string, maxBytes: number) => StateStore,
): Promise<{ held: boolean; evidence: string }> {
  using database = openDatabase({ path: ':memory:' });
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(smallConfig(folder).embedder));
  const router = new Router(embeddings, { backend: chooseVectorBackend().backend, topK: 5, threshold: -1 });
  const keeper = new MemoryKeeper(new RouterRetriever(router, embeddings), embeddings, database);
  const stage = new ItemStage();
  const parts = {
    model: () => Promise.resolve(model),
    memories: keeper,
    log: stage,
    rules: { placement: 'chronological', labels: 'index' },
    topK: 5,
    threshold: -1,
    warn: () => undefined,
  } as const;
  const systems = armsNamed(['rag', 'rag-cached', 'dki', 'dki-blocks'], { alpha: 1, gatingThreshold: 0.7 }).map(
    (arm) => ({
      name: arm.name,
      mustHear: arm.claims === 'bits',
      system: arm.open(parts, stage, () => ({
        store: new Store(folder.file(`${name}-${arm.name}`), 2 ** 28),
        diskTiming: 'at-once',
      })),
    }),
  );
  const probe = await probeIsolation({ runId: name, keeper, stage, systems, topK: 5, threshold: -1 }, 3);
  for (const { system } of systems) await system[Symbol.asyncDispose]();
  const outcome = isolation({ probes: { isolation: probe } } as unknown as GateInput);
  if (!('held' in outcome)) throw new Error(outcome.why);
  return outcome;
}

describe('the isolation gate', () => {
  it('holds where index and stores are scoped by user', async () => {
    expect(await judged('scoped', MemoryRouter, StateStore)).toMatchObject({ held: true });
  });

  it('fails on an unscoped index', async () => {
    const { held, evidence } = await judged('index', UnscopedRouter, StateStore);
    expect([held, evidence]).toEqual([false, expect.stringContaining("another's secret came out of")]);
  });

  it('fails on an unscoped store', async () => {
    const { held, evidence } = await judged('store', MemoryRouter, UnscopedStore);
    expect([held, evidence]).toEqual([false, expect.stringContaining('K/V of another user served by')]);
  });
});
