import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { embedMemories, metadataTime, readMetadata, searchResult, UserIndexes } from '../memory-vector-index.ts';
import type { MemorySearchResult, NewMemory, Retrieval, RetrievalFlag } from '../retriever.ts';
import { checkSearch, isEmptyQuery, retrieveNothing, type RetrieveOptions, type Retriever } from '../retriever.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import { HierarchicalMemory, planSearch, type TimedMemory } from './hierarchical-memory.ts';
import { listedLinks } from './memory-links.ts';
import type { ReadPreRetrievalConfig } from './pre-retrieval/pre-retrieval-config.ts';
import { PreRetrieval } from './pre-retrieval/pre-retrieval.ts';
import type { QueryModel, QueryRecord } from './pre-retrieval/pre-retrieval-types.ts';
import { routeExamples } from './route-examples.ts';

/** Options of the strategy. */
export interface HintedOptions extends Readonly<ReadPreRetrievalConfig> {
  readonly backend: VectorBackend;
  /** Model that routes, rewrites and decomposes if the configuration says `llm`; closed with the strategy. */
  readonly model?: QueryModel | undefined;
}

/** A query record with the retrieved memories. */
export interface RetrievedRecord extends QueryRecord {
  readonly memory_data: readonly MemorySearchResult[];
}

/**
 * Strategy `hinted`: derives hints from the question alone, then searches a hierarchical memory by them.
 *
 * @example
 * ```ts
 * import { chooseVectorBackend, EmbeddingService, HintedRetriever } from 'dki-bench';
 * import { readPreRetrievalConfig, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const { backend } = chooseVectorBackend();
 * const { config, warnings } = readPreRetrievalConfig({ route_strategy: 'classifier' }, 'example');
 * const retriever = new HintedRetriever(embeddings, { backend, config, warnings });
 * await retriever.addMemories([{ memoryId: 'm1', content: 'My sister is called Anna.' }]);
 * const { memories, details } = await retriever.retrieve('Do you remember my sister?', { topK: 5, threshold: -1 });
 * ```
 */
export class HintedRetriever implements Retriever {
  readonly name = 'hinted';
  readonly #embeddings: EmbeddingService;
  readonly #options: HintedOptions;
  readonly #preparation: PreRetrieval;
  readonly #memories = new UserIndexes<TimedMemory, HierarchicalMemory>();
  readonly #strategies = new Map<string, number>();
  #fallbacks = 0;

  constructor(embeddings: EmbeddingService, options: HintedOptions) {
    this.#embeddings = embeddings;
    this.#options = options;
    const { train: examples, test: probes } = routeExamples;
    const embed = (texts: readonly string[]): Promise<Float32Array[]> => embeddings.embedMany(texts, 'query');
    this.#preparation = new PreRetrieval(options.config, { embed, examples, probes, model: options.model });
  }

  /** Adds memories as `Retriever` specifies. @throws BenchError also `bad-data` for an invalid `createdAt` or `links` */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const stored = await embedMemories(this.#embeddings, memories);
    const dimension = await this.#embeddings.dimension();
    const timed = stored.map((memory) => {
      // Only to check the links, before the first memory is added.
      listedLinks(memory);
      return { ...memory, writtenMs: readMetadata(memory, 'createdAt', metadataTime) ?? Date.now() };
    });
    this.#memories.addAll(timed, () => new HierarchicalMemory(this.#options.backend, dimension));
    return memories.length;
  }

  async removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    return this.#memories.remove(memoryId, userId);
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    if (isEmptyQuery(query)) return retrieveNothing(this.name, options);
    checkSearch(options.topK, options.threshold);
    const start = performance.now();
    const record = await this.#embedded(await this.#preparation.execute({ question: query }));
    const prepared = performance.now();
    const { memories, tiers, linked } = this.#search(record, options);
    const { retrieval_hints: hints = null, fallbacks = [], sub_questions: parts = [query] } = record;
    for (const strategy of hints?.strategies ?? []) {
      this.#strategies.set(strategy, (this.#strategies.get(strategy) ?? 0) + 1);
    }
    this.#fallbacks += fallbacks.length;
    return {
      strategy: this.name,
      memories,
      timingsMs: { embedding: prepared - start, search: performance.now() - prepared, ranking: 0 },
      flags: flags(record),
      details: { hints, tiers, linked, parts: parts.length, vectors: vectors(record).length },
    };
  }

  /**
   * Searches for a record in the format of the design document, by its hints and vector if it has them. It may give its hints
   * under their old name, `retrieval_routes`.
   * @throws BenchError as `retrieve`
   */
  async execute(
    record: QueryRecord & { readonly retrieval_routes?: readonly string[] },
    options: RetrieveOptions,
  ): Promise<RetrievedRecord> {
    checkSearch(options.topK, options.threshold);
    const { retrieval_routes: strategies, ...rest } = record;
    const hints = strategies && { strategies, route_strategy: 'keyword' as const, params: {} };
    const embedded = await this.#embedded(
      hints === undefined ? rest : { ...rest, retrieval_hints: rest.retrieval_hints ?? hints },
    );
    return { ...embedded, memory_data: this.#search(embedded, options).memories };
  }

  async reset(): Promise<void> {
    // Queries leave no state.
  }

  stats(): Readonly<Record<string, unknown>> {
    const { backend, config, warnings } = this.#options;
    return {
      backend: backend.name,
      backendVersion: backend.version,
      memories: this.#memories.memoryCount,
      namespaces: this.#memories.size,
      action: config.action,
      routeStrategy: config.route_strategy,
      strategies: Object.fromEntries(this.#strategies),
      fallbacks: this.#fallbacks,
      warnings,
    };
  }

  async close(): Promise<void> {
    this.#memories.clear();
    await this.#options.model?.[Symbol.asyncDispose]();
  }

  /** Embeds the question if no action has done so. */
  async #embedded(record: QueryRecord): Promise<QueryRecord> {
    if (record.invalid !== undefined || record.query_embedding !== undefined) return record;
    return { ...record, query_embedding: await this.#embeddings.embed(record.question, 'query') };
  }

  #search(record: QueryRecord, { userId, topK, threshold }: RetrieveOptions) {
    const memory = this.#memories.get(userId);
    if (record.invalid !== undefined || memory === undefined || topK === 0)
      return { memories: [], tiers: [], linked: 0 };
    const plan = planSearch(record.retrieval_hints ?? { strategies: [], params: {} });
    const { ranked, linked } = memory.search(vectors(record), plan, topK);
    const memories = ranked.filter(({ score }) => score >= threshold).map(searchResult);
    return { memories, tiers: plan.tiers, linked };
  }
}

function vectors({ query_embedding, query_embeddings = {} }: QueryRecord): Float32Array[] {
  return [...(query_embedding === undefined ? [] : [query_embedding]), ...Object.values(query_embeddings)];
}

function flags({ invalid, fallbacks = [] }: QueryRecord): RetrievalFlag[] {
  if (invalid !== undefined) return [{ flag: 'failed', reason: invalid }];
  return fallbacks.map((reason) => ({ flag: 'fallback', reason }));
}
