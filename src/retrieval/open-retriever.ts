import type { RetrieverName } from '../config/bench-config.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import type { Engine } from '../engine/engine.ts';
import { MemoryRouter, RouterRetriever } from './similarity/memory-router.ts';
import type { Retriever } from './retriever.ts';
import { GivenRetriever } from './given-retriever.ts';
import type { VectorBackend } from './vectors/vector-backends.ts';
import { openQueryModel } from './hinted/engine-query-model.ts';
import { HintedRetriever } from './hinted/hinted-retriever.ts';
import { usesLanguageModel, type ReadPreRetrievalConfig } from './hinted/pre-retrieval/pre-retrieval-config.ts';
import { SalienceRetriever } from './salience/salience-retriever.ts';
import type { SalienceRule } from './salience/salience-ranking.ts';
import { openTieredRetriever, type TieredSettings } from './tiered/open-tiered-retriever.ts';

/** Dependencies and settings of all strategies; each takes what it needs. */
export interface RetrieverParts {
  readonly embeddings: EmbeddingService;
  readonly backend: VectorBackend;
  /** Default limits of a search. */
  readonly topK: number;
  readonly threshold: number;
  /** Id of the run, which separates its memories from others in a shared store. */
  readonly namespace: string;
  /** Private folder, created if needed and deleted when the retriever is closed. */
  readonly folder: string;
  readonly tiers: TieredSettings;
  /** Counts the tokens of texts, for strategies with a token budget. */
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
  /** Token budget. Default: the strategy's default. */
  readonly retrievalTokens?: number | undefined;
  /** Default: `documentRule`. */
  readonly salience?: SalienceRule | undefined;
  readonly preRetrieval: ReadPreRetrievalConfig;
  /** Needed, with a free session, if `preRetrieval` uses a language model. */
  readonly engine?: Engine | undefined;
}

/** A retriever of the calling program. */
export interface RetrieverDefinition {
  /** Stored with the run; the `name` of the retriever. */
  readonly name: string;
  /** Opens a retriever without memories, which the runner closes. A run may open several. */
  readonly open: (
    parts: Pick<RetrieverParts, 'embeddings' | 'topK' | 'threshold' | 'folder'>,
  ) => Retriever | Promise<Retriever>;
}

const openers: Readonly<Record<RetrieverName, (parts: RetrieverParts) => Promise<Retriever>>> = {
  router: async ({ embeddings, backend, topK, threshold }) =>
    new RouterRetriever(new MemoryRouter(embeddings, { backend, topK, threshold }), embeddings),
  salience: async ({ embeddings, backend, countTokens, retrievalTokens, salience }) =>
    new SalienceRetriever(embeddings, { backend, countTokens, maxTokens: retrievalTokens, rule: salience }),
  hinted: async ({ embeddings, backend, preRetrieval, engine }) => {
    const isNeeded = engine !== undefined && usesLanguageModel(preRetrieval.config);
    const model = isNeeded ? await openQueryModel(engine) : undefined;
    return new HintedRetriever(embeddings, { backend, ...preRetrieval, model });
  },
  tiered: ({ tiers, ...parts }) => openTieredRetriever({ ...tiers, ...parts }),
  given: () => Promise.resolve(new GivenRetriever()),
};

/**
 * Opens a retrieval strategy by name; the caller closes it.
 * @throws BenchError `database` if a store does not answer, `no-session` if the engine has no free session
 */
export function openRetriever(name: RetrieverName, parts: RetrieverParts): Promise<Retriever> {
  return openers[name](parts);
}
