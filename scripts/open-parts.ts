import { join } from 'node:path';
import { presetModels } from '../src/config/shipped-models.ts';
import { openDatabase } from '../src/db/database.ts';
import { EmbeddingService } from '../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../src/embedding/transformers-embedder.ts';
import type { LanguageModel } from '../src/llm/language-model.ts';
import { MemoryRouter } from '../src/memory/memory-router.ts';
import { RouterRetriever } from '../src/memory/strategies/router/router-retriever.ts';
import type { MemorySearchResult } from '../src/memory/memory-search-result.ts';
import { chooseVectorBackend } from '../src/memory/vector-backend.ts';
import { DatabaseConversationLog } from '../src/systems/conversation-log.ts';
import { MemoryKeeper } from '../src/systems/memory-keeper.ts';
import type { PromptRules } from '../src/systems/prompt/build-prompt.ts';
import type { SystemParts } from '../src/systems/system-parts.ts';

/** Labels that do not depend on the place, so that a block serves any order; memories may fill the window. */
export const RULES: Omit<PromptRules, 'windowTokens'> = {
  placement: 'rank',
  labels: 'bullet',
  reserveTokens: 16,
  memoryShare: 1,
};

/** The parts of systems that recall what they are told to. */
export interface ToldParts {
  readonly parts: SystemParts;
  /** From now on every search gives these memories, and takes no time. */
  readonly recallNext: (memories: readonly MemorySearchResult[]) => void;
}

/** @param folder for the database */
export function openToldParts(model: LanguageModel, folder: string): ToldParts {
  const database = openDatabase({ path: join(folder, 'turns.sqlite') });
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(presetModels.embedder));
  const router = new MemoryRouter(embeddings, { backend: chooseVectorBackend().backend, topK: 1, threshold: -1 });
  let memories: readonly MemorySearchResult[] = [];
  const parts: SystemParts = {
    model: () => Promise.resolve(model),
    memories: new MemoryKeeper(new RouterRetriever(router, embeddings), embeddings, database),
    log: new DatabaseConversationLog(database),
    recall: { search: () => Promise.resolve({ memories, elapsedMs: 0 }) },
    rules: RULES,
    topK: 1,
    threshold: -1,
    warn: (message) => console.error(message),
  };
  return { parts, recallNext: (next) => (memories = next) };
}
