import { BenchError } from '../../../config/bench-error.ts';
import type { EmbeddingService } from '../../../embedding/embedding-service.ts';
import { embedMemories } from '../../embed-memories.ts';
import type { StoredMemory } from '../../memory-namespace.ts';
import type { MemorySearchResult } from '../../memory-search-result.ts';
import type { NewMemory } from '../../new-memory.ts';
import type { Retrieval, RetrievalFlag, RetrieveOptions, Retriever } from '../../retriever.ts';
import { checkSearch } from '../../search-options.ts';
import type { VectorBackend } from '../../vector-index.ts';
import { HierarchicalMemory } from './hierarchical-memory.ts';
import { MemoryLinks } from './memory-links.ts';
import { withHints } from './pre-retrieval/old-names.ts';
import type { PreRetrievalConfig } from './pre-retrieval/pre-retrieval-config.ts';
import { PreRetrieval } from './pre-retrieval/pre-retrieval.ts';
import type { QueryRecord } from './pre-retrieval/query-record.ts';
import type { QueryModel } from './pre-retrieval/query-tools.ts';
import { routeExamples } from './route-examples.ts';
import { planSearch, type SearchPlan } from './search-plan.ts';

export interface HintedOptions {
  readonly backend: VectorBackend;
  readonly config: PreRetrievalConfig;
  /** What the configuration was told under old names. */
  readonly warnings: readonly string[];
  /** What routes, rewrites and decomposes where the configuration says `llm`; closed with the strategy. */
  readonly model?: QueryModel | undefined;
}

/** A record as it leaves the memory: with what was found. @see seed 003 §5.3 */
export interface RetrievedRecord extends QueryRecord {
  readonly memory_data: readonly MemorySearchResult[];
}

const unhinted = { strategies: [], params: {} };

/**
 * Recall with hints: a question is prepared without a look at any memory, and one hierarchical memory searches as its
 * hints advise.
 *
 * @see seed 003
 */
export class HintedRetriever implements Retriever {
  readonly name = 'hinted';
  readonly #embeddings: EmbeddingService;
  readonly #backend: VectorBackend;
  readonly #config: PreRetrievalConfig;
  readonly #warnings: readonly string[];
  readonly #model: QueryModel | undefined;
  readonly #preparation: PreRetrieval;
  /** By user; undefined for memories without one. */
  readonly #memories = new Map<string | undefined, HierarchicalMemory>();
  readonly #strategies = new Map<string, number>();
  #fallbacks = 0;

  constructor(embeddings: EmbeddingService, { backend, config, warnings, model }: HintedOptions) {
    this.#embeddings = embeddings;
    this.#backend = backend;
    this.#config = config;
    this.#warnings = warnings;
    this.#model = model;
    const { train: examples, test: probes } = routeExamples;
    const embed = (texts: readonly string[]): Promise<Float32Array[]> => embeddings.embedMany(texts, 'query');
    this.#preparation = new PreRetrieval(config, { embed, examples, probes, model });
  }

  /** As the port says. @throws BenchError `bad-data` for a `createdAt` or `links` that cannot be read, too */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const owned = await embedMemories(this.#embeddings, memories);
    const dimension = await this.#embeddings.dimension();
    const byUser = new Map<string | undefined, { memory: StoredMemory; writtenMs: number }[]>();
    for (const { userId, memory } of owned) {
      MemoryLinks.namedLinks(memory);
      const timed = { memory, writtenMs: writtenMs(memory) };
      const ofUser = byUser.get(userId);
      if (ofUser === undefined) byUser.set(userId, [timed]);
      else ofUser.push(timed);
    }
    for (const [userId, timed] of byUser) {
      const memory = this.#memories.get(userId) ?? new HierarchicalMemory(this.#backend, dimension);
      memory.add(timed);
      this.#memories.set(userId, memory);
    }
    return memories.length;
  }

  async removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    const memory = this.#memories.get(userId);
    const removed = memory?.remove(memoryId) ?? false;
    if (memory?.size === 0) this.#memories.delete(userId);
    return removed;
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    checkSearch(options.topK, options.threshold);
    const start = performance.now();
    const record = await this.#prepared({ question: query });
    const prepared = performance.now();
    const { memory_data, plan, linked } = this.#search(record, options);
    const hints = record.retrieval_hints;
    for (const strategy of hints?.strategies ?? []) {
      this.#strategies.set(strategy, (this.#strategies.get(strategy) ?? 0) + 1);
    }
    const flags = flagsOf(record);
    this.#fallbacks += record.fallbacks?.length ?? 0;
    return {
      strategy: this.name,
      memories: memory_data,
      timingsMs: { embedding: prepared - start, search: performance.now() - prepared, ranking: 0 },
      flags,
      details: {
        hints: hints ?? null,
        tiers: plan?.tiers ?? [],
        linked,
        parts: record.sub_questions?.length ?? 1,
        vectors: vectorsOf(record).length,
      },
    };
  }

  /**
   * One record through the memory, as the source document has it: its hints are read where it has any, its vector is
   * taken where it has one. A record with `retrieval_routes` in place of hints is understood.
   *
   * @throws BenchError as `retrieve`
   */
  async execute(record: QueryRecord, options: RetrieveOptions): Promise<RetrievedRecord> {
    checkSearch(options.topK, options.threshold);
    const embedded = await this.#embedded(withHints(record));
    return { ...embedded, memory_data: this.#search(embedded, options).memory_data };
  }

  async reset(): Promise<void> {
    // It learns nothing from being asked.
  }

  stats(): Readonly<Record<string, unknown>> {
    const { name: backend, version: backendVersion } = this.#backend;
    const memories = [...this.#memories.values()].reduce((sum, { size }) => sum + size, 0);
    const { action, route_strategy: routeStrategy } = this.#config;
    return {
      backend,
      backendVersion,
      memories,
      namespaces: this.#memories.size,
      action,
      routeStrategy,
      strategies: Object.fromEntries(this.#strategies),
      fallbacks: this.#fallbacks,
      warnings: this.#warnings,
    };
  }

  async close(): Promise<void> {
    this.#memories.clear();
    await this.#model?.[Symbol.asyncDispose]();
  }

  async #prepared(record: QueryRecord): Promise<QueryRecord> {
    return this.#embedded(await this.#preparation.execute(record));
  }

  /** Makes the vector that no action has made. */
  async #embedded(record: QueryRecord): Promise<QueryRecord> {
    if (record.invalid !== undefined || record.query_embedding !== undefined) return record;
    return { ...record, query_embedding: await this.#embeddings.embed(record.question, 'query') };
  }

  #search(
    record: QueryRecord,
    { userId, topK, threshold }: RetrieveOptions,
  ): { readonly memory_data: MemorySearchResult[]; readonly plan?: SearchPlan; readonly linked: number } {
    const memory = this.#memories.get(userId);
    if (record.invalid !== undefined || memory === undefined || topK === 0) return { memory_data: [], linked: 0 };
    const plan = planSearch(record.retrieval_hints ?? unhinted);
    const { ranked, linked } = memory.search(vectorsOf(record), plan, topK);
    const memory_data = ranked
      .filter(({ score }) => score >= threshold)
      .map(({ memory: { memoryId, content, metadata }, score }) => ({ memoryId, content, score, metadata }));
    return { memory_data, plan, linked };
  }
}

function vectorsOf({ query_embedding, query_embeddings = {} }: QueryRecord): Float32Array[] {
  return [...(query_embedding === undefined ? [] : [query_embedding]), ...Object.values(query_embeddings)];
}

function flagsOf({ invalid, fallbacks = [] }: QueryRecord): RetrievalFlag[] {
  if (invalid !== undefined) return [{ flag: 'failed', reason: invalid }];
  return fallbacks.map((reason) => ({ flag: 'fallback', reason }));
}

/** When a memory was written: its `createdAt`, else now. */
function writtenMs({ memoryId, metadata }: StoredMemory): number {
  const createdAt = metadata['createdAt'];
  if (createdAt === undefined) return Date.now();
  const ms = typeof createdAt === 'string' ? Date.parse(createdAt) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new BenchError(
    'bad-data',
    `memory '${memoryId}': createdAt expected a time such as 2026-03-01T09:00:00Z, got ${JSON.stringify(createdAt)}`,
    'mend its metadata, or leave the field out',
  );
}
