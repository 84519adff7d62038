import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { TemporaryFolder } from '../base/temporary-folder.ts';
import { selectEngine } from './select-engine.ts';
import { loadBenchConfig } from './load-config.ts';
import { openDatabase } from '../store/database.ts';
import { readGatingCalibration, requireCalibrationFor } from '../models/embedding/gating-calibration.ts';
import type { Engine } from '../engine/engine.ts';
import { openEmbeddings, readPreRetrievalConfigFile } from '../eval/run/loaded-models.ts';
import { openRunRetriever } from '../eval/run/open-run-retriever.ts';
import { runnableArms } from '../eval/run/plan/runnable-arms.ts';
import { systemParts } from '../eval/run/system-parts-from-options.ts';
import { resolveModelOptions } from '../eval/run/plan/resolve-model-options.ts';
import type { ArmStore } from '../systems/prefill/prefill-strategy.ts';
import { KvStore } from '../kv/kv-disk-store.ts';
import { requireSearchingRetriever } from '../retrieval/given-retriever.ts';
import { usesLanguageModel } from '../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { chooseVectorBackend } from '../retrieval/vectors/choose-vector-backend.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import type { MemorySystem } from '../systems/memory-system.ts';
import { ConversationLog } from '../systems/conversation-log.ts';
import { MemoryKeeper } from '../systems/memory-keeper.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../systems/prefill/dual-factor-gate.ts';
import { RetrievalCounts } from '../systems/retrieval-counts.ts';
import { SystemPool } from '../systems/system-pool.ts';

/** Options of `openSystem`; all have defaults. */
export interface OpenSystemOptions {
  /** Name of the arm, as for `--arms`. Default `dki`. */
  readonly arm?: string;
  /** A GGUF file, a name such as `smollm2-135m`, or `hf:org/repo/file.gguf`. Default: the one that ships. */
  readonly model?: string;
  /** A folder with ONNX weights, a name, or `hf:org/repo`. Default: the one that goes with the model. */
  readonly embedder?: string;
  /** A SQLite file for memories and conversations. Default: in memory, gone when the system is closed. */
  readonly database?: string;
  /** A folder to store KV in. Default: a temporary one, deleted when the system is closed. */
  readonly store?: string;
  /** Turns that are answered concurrently, each in its own session; others wait in order of arrival. Default 1. */
  readonly sessions?: number;
  /** Threads of the model. Default: by the machine, one for a small model. */
  readonly threads?: number;
}

/** A memory system that owns its models, database and KV store. */
export interface OpenedSystem extends MemorySystem, AsyncDisposable {
  /** Rejects waiting turns, waits for running ones, and then closes everything that `openSystem` opened. */
  dispose(): Promise<void>;
}

/**
 * Opens a memory system with one arm, for use in a program.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'dki', sessions: 2 });
 * await system.addMemory('session-1', 'My dentist is called Dr. Dubois.', { userId: 'ada' });
 * const { text } = await system.chat({ query: 'Who is my dentist?', sessionId: 'session-1', userId: 'ada' });
 * console.log(text, system.getStats().kvStore);
 *
 * @throws BenchError `bad-option` for an unknown arm, `bad-model` if a model cannot be used or lacks a capability that
 * the arm needs
 */
export async function openSystem(options: OpenSystemOptions = {}): Promise<OpenedSystem> {
  const { arm: name = 'dki', sessions = 1, model, embedder, threads } = options;
  const named = loadBenchConfig({ flags: { model, embedder, threads } });
  requireSearchingRetriever(named.retriever);
  const engines = selectEngine(named);
  const config = await resolveModelOptions(named, engines);
  const calibration = readGatingCalibration(config.embedder);
  const gatingThreshold = calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD;
  const [arm] = armRegistry.named([name], { alpha: 1, gatingThreshold });
  runnableArms(await engines.inspect(config.model, config.contextTokens), [arm!], config, false);

  const closers: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const temporary = new TemporaryFolder();
    closers.push(() => temporary[Symbol.dispose]());
    const folder = options.store ?? temporary.path;
    const database = openDatabase({ path: options.database ?? ':memory:' });
    closers.push(() => database[Symbol.dispose]());
    const preRetrieval = readPreRetrievalConfigFile(config);
    const engine = await engines.open({
      model: config.model,
      // Further session: one to prepare questions.
      sessions: sessions + Number(config.retriever === 'hinted' && usesLanguageModel(preRetrieval.config)),
      checkpointFolder: join(folder, 'checkpoints'),
      contextTokens: config.contextTokens,
      threads: config.threads,
    });
    closers.push(() => engine[Symbol.asyncDispose]());
    const embeddings = openEmbeddings(config.embedder);
    if (arm!.gated && calibration !== undefined) requireCalibrationFor(calibration, await embeddings.info());
    const models = { engine, embeddings, backend: chooseVectorBackend(), preRetrieval };
    const retriever = await openRunRetriever(models, config, `system/${randomUUID()}`, temporary.path);
    closers.push(() => retriever.close());
    const memories = new MemoryKeeper({ retriever, embeddings, database });
    const openStore = openStoreOnce(join(folder, 'store'), config.kvBytes);
    const retrievals = new RetrievalCounts();
    const pool = await SystemPool.open(sessions, async (place) => {
      const session = await engine.openSession(`system-${place}`);
      const warn = (message: string): void => process.emitWarning(message, 'DkiBenchWarning');
      const parts = systemParts({ engine }, session, config, memories);
      return arm!.open({ ...parts, log: new ConversationLog(database), openStore, retrievals, warn });
    });
    closers.push(() => pool[Symbol.asyncDispose]());
    return {
      chat: (request) => pool.chat(request),
      addMemory: (sessionId, content, added) => pool.addMemory(sessionId, content, added),
      removeMemory: (sessionId, memoryId, userId) => pool.removeMemory(sessionId, memoryId, userId),
      loadMemoriesFromDb: (sessionId) => pool.loadMemoriesFromDb(sessionId),
      searchMemories: (query, search) => pool.searchMemories(query, search),
      getStats: () => pool.getStats(),
      dispose: close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens one KV store for all systems of a pool, at the first turn. */
function openStoreOnce(path: string, maxBytes: number): (engine: Engine) => Promise<ArmStore> {
  let store: Promise<KvStore> | undefined;
  return async (engine) => {
    store ??= KvStore.open(path, maxBytes, engine).catch((error: unknown) => {
      // The next turn tries again.
      store = undefined;
      throw error;
    });
    return { store: await store, diskTiming: 'at-once' };
  };
}
