import type { RetrieverName } from '../../config/bench-config.ts';
import type { EmbeddingService } from '../../embedding/embedding-service.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import { MemoryRouter } from '../memory-router.ts';
import type { Retriever } from '../retriever.ts';
import type { VectorBackend } from '../vector-index.ts';
import { HintedRetriever } from './hinted/hinted-retriever.ts';
import { LlamaQueryModel } from './hinted/llama-query-model.ts';
import { asksModel, type ReadPreRetrievalConfig } from './hinted/pre-retrieval/pre-retrieval-config.ts';
import { RouterRetriever } from './router/router-retriever.ts';
import { SalienceRetriever } from './salience/salience-retriever.ts';
import { openTiered } from './tiered/open-tiered.ts';
import type { TieredSettings } from './tiered/tier-places.ts';

/** What strategies are made of; each takes what it needs. */
export interface RetrieverParts {
  readonly embeddings: EmbeddingService;
  readonly backend: VectorBackend;
  /** What a search gives where it is not asked otherwise. */
  readonly topK: number;
  readonly threshold: number;
  /** Keeps the memories of one run apart from all others in a store that is shared: its id. */
  readonly namespace: string;
  /** A folder that nobody else uses, made by who needs it; it goes when the retriever is closed. */
  readonly folder: string;
  /** Where hot and cold memory lie. */
  readonly tiers: TieredSettings;
  /** Tokens of a text, for a strategy with a budget; and its budget, where it is not its own. */
  readonly countTokens: (text: string) => number;
  readonly recallTokens?: number | undefined;
  /** How questions are prepared, where they are. */
  readonly preRetrieval: ReadPreRetrievalConfig;
  /** What prepares questions where `preRetrieval` says `llm`, with a sequence to spare. */
  readonly model?: LanguageModel | undefined;
}

const openers: Readonly<Record<RetrieverName, (parts: RetrieverParts) => Promise<Retriever>>> = {
  router: async ({ embeddings, backend, topK, threshold }) =>
    new RouterRetriever(new MemoryRouter(embeddings, { backend, topK, threshold }), embeddings),
  salience: async ({ embeddings, backend, countTokens, recallTokens }) =>
    new SalienceRetriever(embeddings, { backend, countTokens, maxTokens: recallTokens }),
  hinted: async ({ embeddings, backend, preRetrieval, model }) => {
    const asked = model !== undefined && asksModel(preRetrieval.config) ? new LlamaQueryModel(model) : undefined;
    return new HintedRetriever(embeddings, { backend, ...preRetrieval, model: asked });
  },
  tiered: ({ tiers, ...parts }) => openTiered({ ...tiers, ...parts }),
};

/**
 * Opens a strategy by its name; who opens it closes it.
 * @throws BenchError `database` where a store that it needs is not there
 */
export function openRetriever(name: RetrieverName, parts: RetrieverParts): Promise<Retriever> {
  return openers[name](parts);
}
