import { presetModels } from '../../src/config/shipped-models.ts';
import type { BenchDatabase } from '../../src/db/database.ts';
import { EmbeddingService } from '../../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/embedding/transformers-embedder.ts';
import type { LanguageModel } from '../../src/llm/language-model.ts';
import type { SequenceScore } from '../../src/llm/token-probabilities.ts';
import { MemoryRouter } from '../../src/memory/memory-router.ts';
import type { MemorySearchResult } from '../../src/memory/memory-search-result.ts';
import { RouterRetriever } from '../../src/memory/strategies/router/router-retriever.ts';
import { chooseVectorBackend } from '../../src/memory/vector-backend.ts';
import type { BenchSystem } from '../../src/systems/bench-system.ts';
import { DatabaseConversationLog } from '../../src/systems/conversation-log.ts';
import { MemoryKeeper } from '../../src/systems/memory-keeper.ts';
import type { Recall } from '../../src/systems/recall.ts';
import type { SystemParts } from '../../src/systems/system-parts.ts';

const EMBEDDER = presetModels.embedder;

/** Memories as a recall gives them, best first. */
export function memoriesOf(...contents: readonly string[]): MemorySearchResult[] {
  return contents.map((content, index) => ({
    memoryId: `m${index + 1}`,
    content,
    score: 0.9 - 0.1 * index,
    metadata: { preference: content.includes('favourite') },
  }));
}

/** Recalls the same memories whatever is asked. */
export function always(memories: readonly MemorySearchResult[]): Recall {
  return { search: () => Promise.resolve({ memories, elapsedMs: 0 }) };
}

/** What the model gives to an answer where the generation of the last turn of a system began. */
export async function scoreOf(model: LanguageModel, system: BenchSystem, answer: string): Promise<SequenceScore> {
  await using sequence = model.openSequence();
  return await sequence.score(await system.replay(sequence), model.tokenizeText(answer));
}

/** The parts of a system that talks to a model, on the shipped embedder and a database of its own. */
export function partsOf(model: LanguageModel, database: BenchDatabase): SystemParts {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(EMBEDDER));
  const router = new MemoryRouter(embeddings, { backend: chooseVectorBackend().backend, topK: 5, threshold: -1 });
  return {
    model: () => Promise.resolve(model),
    memories: new MemoryKeeper(new RouterRetriever(router, embeddings), embeddings, database),
    log: new DatabaseConversationLog(database),
    rules: { placement: 'rank', labels: 'index' },
    topK: 5,
    threshold: -1,
    warn: () => undefined,
  };
}
