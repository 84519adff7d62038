import { presetModels } from '../src/models/default-models.ts';
import type { BenchDatabase } from '../src/store/database.ts';
import { EmbeddingService } from '../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../src/models/embedding/transformers-embedder.ts';
import { KvStore } from '../src/kv/kv-disk-store.ts';
import { MemoryRouter, RouterRetriever } from '../src/retrieval/similarity/memory-router.ts';
import type { MemorySearchResult } from '../src/retrieval/retriever.ts';
import { chooseVectorBackend } from '../src/retrieval/vectors/choose-vector-backend.ts';
import type { RetrievedMemories } from '../src/systems/memory-system.ts';
import { ConversationLog } from '../src/systems/conversation-log.ts';
import { MemoryKeeper } from '../src/systems/memory-keeper.ts';
import type { OpenStore } from '../src/systems/prefill/prefill-strategy.ts';
import type { OpenEngine, SystemParts } from '../src/systems/answer-turn.ts';

const TOP_K = 5;

/** Keeps memories with the default retriever. @param embedder a folder of weights; default: the shipped one */
export function openKeeper(database: BenchDatabase, embedder: string = presetModels.embedder): MemoryKeeper {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(embedder));
  const router = new MemoryRouter(embeddings, { backend: chooseVectorBackend().backend, topK: TOP_K, threshold: -1 });
  return new MemoryKeeper({ retriever: new RouterRetriever(router, embeddings), embeddings, database });
}

/** The parts of systems that answer in one session of an engine and write down what was said. */
export function openParts(
  opened: OpenEngine,
  database: BenchDatabase,
  rules: SystemParts['rules'] = { placement: 'rank', labels: 'index' },
): SystemParts {
  return {
    open: () => Promise.resolve(opened),
    memories: openKeeper(database),
    log: new ConversationLog(database),
    rules,
    topK: TOP_K,
    threshold: -1,
    warn: (message) => console.error(message),
  };
}

/** Opens the KV store of one system in a folder that other processes may open too. */
export function storeIn(folder: string, maxBytes: number): OpenStore {
  return async (engine) => ({ store: await KvStore.open(folder, maxBytes, engine), diskTiming: 'at-once' });
}

/** Memories as a request brings them, found in no time. */
export function foundMemories(memories: readonly MemorySearchResult[]): RetrievedMemories {
  return { memories, elapsedMs: 0, record: null };
}

const LIMITS = { maxTokens: 48, stopTexts: ['\n'] };

/** The answer to a prompt, greedy and of one line; each piece of the prompt is tokenised alone. */
export async function greedyAnswer({ engine, session }: OpenEngine, pieces: readonly string[]): Promise<string> {
  const { bosToken } = engine.info;
  const ids = await engine.tokenize(pieces.map((text, index) => ({ text, as: 'text', first: index === 0 })));
  await session.clear();
  return (await session.generate([...(bosToken === null ? [] : [bosToken]), ...ids.flat()], LIMITS)).text;
}
