import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { openParts, storeIn } from '../../scripts/open-parts.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { presetModels } from '../../src/models/default-models.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { CheckInput, Finding } from '../../src/eval/analysis/checks/check.ts';
import { isolation } from '../../src/eval/analysis/checks/isolation.ts';
import { probeIsolation, type ProbeOptions } from '../../src/eval/run/prove/isolation-probe.ts';
import type { KvStore } from '../../src/kv/kv-disk-store.ts';
import {
  MemoryRouter,
  type MemoryRouterOptions,
  RouterRetriever,
} from '../../src/retrieval/similarity/memory-router.ts';
import type { MemorySearchResult, NewMemory } from '../../src/retrieval/retriever.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';
import { MemoryKeeper } from '../../src/systems/memory-keeper.ts';
import type { BenchSystem, ChatRequest, ChatResponse } from '../../src/systems/memory-system.ts';
import type { OpenStore } from '../../src/systems/prefill/prefill-strategy.ts';
import { realEngine } from '../fixtures/engines.ts';
import { replacing } from '../fixtures/replacing.ts';
import { backend, embeddings } from '../fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** One index for all users: the leak that the field's tools have. */
export class UnscopedRouter extends MemoryRouter {
  override addMemories(memories: readonly NewMemory[]): Promise<number> {
    return super.addMemories(memories.map((memory) => ({ ...memory, userId: 'everybody' })));
  }

  override searchVector(...[vector, options]: Parameters<MemoryRouter['searchVector']>): MemorySearchResult[] {
    return super.searchVector(vector, { ...options, userId: 'everybody' });
  }
}

/** A store that finds KV by content alone, whoever it was computed for. */
export function unscoped(store: KvStore): KvStore {
  return replacing(store, {
    findCheckpoint: (_, key) => store.findCheckpoint('everybody', key),
    findBlock: (_, key) => store.findBlock('everybody', key),
    keepCheckpoint: (_, ...kept) => store.keepCheckpoint('everybody', ...kept),
    keepBlock: (block, bytes) => store.keepBlock({ ...block, userId: 'everybody' }, bytes),
  });
}

/** A system that asks for the user who came last: right while one asks, wrong as soon as two do at one moment. */
export function forgetful(system: BenchSystem): BenchSystem {
  let last: ChatRequest;
  return replacing(system, {
    chat: async (request) => {
      last = request;
      await setImmediate();
      return system.chat(last);
    },
  });
}

/** A system that answers a question once for all who ask it at one moment. */
export function collapsing(system: BenchSystem): BenchSystem {
  const underWay = new Map<string, Promise<ChatResponse>>();
  return replacing(system, {
    chat: (request) => {
      const { query } = request;
      const answer = underWay.get(query) ?? system.chat(request).finally(() => underWay.delete(query));
      underWay.set(query, answer);
      return answer;
    },
  });
}

/** The subject of a probe: these arms, over an index and a store that are scoped by user unless a test takes others. */
export interface ProbedParts extends ProbeOptions {
  readonly arms: readonly string[];
  readonly Router?: new (embeddings: EmbeddingService, options: MemoryRouterOptions) => MemoryRouter;
  readonly leaks?: (store: KvStore) => KvStore;
  /** Stands in front of an arm's systems. */
  readonly lies?: (system: BenchSystem, arm: string) => BenchSystem;
}

/** Opens a model around the tests of a file. @returns probes, and gives what the check makes of it */
export function openedProbe(): (name: string, parts: ProbedParts) => Promise<Finding> {
  let engine: Engine;
  const folder = temporaryFolder();
  beforeAll(async () => {
    engine = await realEngine.open({ model: presetModels.model });
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  return async (
    name,
    { arms, Router = MemoryRouter, leaks = (store) => store, lies = (system) => system, ...options },
  ) => {
    using database = openDatabase({ path: ':memory:' });
    await using session = await engine.openSession(name);
    const router = new Router(embeddings, { backend, topK: 5, threshold: -1 });
    const keeper = new MemoryKeeper({ retriever: new RouterRetriever(router, embeddings), embeddings, database });
    const rules = { placement: 'chronological', labels: 'index' } as const;
    const parts = { ...openParts({ engine, session }, database, rules), memories: keeper, log: null };
    const defined = armRegistry.named(arms, { alpha: 1, gatingThreshold: 0.7 });
    const systems = defined.map(({ traits, open }) => {
      const openScoped = storeIn(folder.file(`${name}-${traits.name}`), 2 ** 28);
      const openStore: OpenStore = async (opened) => {
        const { store } = await openScoped(opened);
        return { store: leaks(store), diskTiming: 'at-once' };
      };
      const reopen = () => lies(open({ ...parts, openStore }), traits.name);
      return { traits, system: reopen(), reopen };
    });
    const probe = await probeIsolation({ runId: name, engine, keeper, systems, topK: 5, threshold: -1 }, 3, options);
    for (const { system } of systems) await system[Symbol.asyncDispose]();
    return isolation({ probes: { isolation: probe }, randomWeights: false } as unknown as CheckInput);
  };
}
