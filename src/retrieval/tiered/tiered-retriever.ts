import type { MemorySearchResult, NewMemory, Retrieval, RetrieveOptions, Retriever } from '../retriever.ts';
import { checkSearch, isEmptyQuery, retrieveNothing } from '../retriever.ts';
import { type ContextItem, type EmbeddedRecord, TieredMemory, type TieredMemoryParts } from './tiered-memory.ts';
import type { IngressVerdict } from './memory-record.ts';
import { MemoryRetrievalProcessor, noEvents } from './workflow-node/memory-retrieval-processor.ts';
import type { NodeEventStream } from './workflow-node/memory-retrieval-processor.ts';

/** Dependencies of the strategy. */
export interface TieredRetrieverParts extends TieredMemoryParts {
  /** Receives the events of the retrieval node. Default: they are discarded. */
  readonly events?: NodeEventStream;
  /** Closes the stores. */
  readonly close: () => Promise<void>;
}

/**
 * Strategy `tiered`: returns the ten newest memories for any query, then the memories of the `topK` nearest chunks of all
 * others. The summary is the `history_context` of the retrieval node. The ingress filter is not applied, as it would drop most
 * one-sentence memories; `stats` counts its verdicts.
 *
 * @example
 * ```ts
 * import { chooseVectorBackend, EmbeddingService, InProcessHotStore } from 'dki-bench';
 * import { SqliteColdStore, TieredRetriever, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const hot = new InProcessHotStore();
 * const { backend } = chooseVectorBackend();
 * const cold = new SqliteColdStore('long-term.sqlite', await embeddings.dimension(), backend);
 * const retriever = new TieredRetriever({ hot, cold, embeddings, close: () => cold.close() });
 * ```
 */
export class TieredRetriever implements Retriever {
  readonly name = 'tiered';
  readonly #memory: TieredMemory;
  readonly #node: MemoryRetrievalProcessor;
  readonly #parts: TieredRetrieverParts;
  readonly #filter: Record<IngressVerdict, number> = { admitted: 0, refused: 0, ignored: 0 };
  #failures = 0;

  constructor(parts: TieredRetrieverParts) {
    this.#memory = new TieredMemory(parts);
    this.#node = new MemoryRetrievalProcessor(this.#memory);
    this.#parts = parts;
  }

  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    for (const [userId, own] of Map.groupBy(memories, (memory) => memory.userId)) {
      const verdicts = await this.#memory.load(groupName(userId), own.map(toRecord));
      for (const verdict of verdicts) this.#filter[verdict]++;
    }
    return memories.length;
  }

  removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    return this.#memory.forget(groupName(userId), memoryId);
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    if (isEmptyQuery(query)) return retrieveNothing(this.name, options);
    const { userId, topK, threshold, now = new Date() } = options;
    checkSearch(topK, threshold);
    const start = performance.now();
    const context = { nodeId: 'memory_retrieval', now, limit: topK, threshold };
    const input = { topic: query, group_id: groupName(userId) };
    const { output, result, error } = await this.#node.run(context, input, this.#parts.events ?? noEvents);
    if (result === undefined) {
      this.#failures++;
      return {
        ...retrieveNothing(this.name, options),
        timingsMs: { embedding: 0, search: performance.now() - start, ranking: 0 },
        flags: [{ flag: 'failed', reason: error.message.replaceAll(/\s*\n\s*/g, ' ') }],
        summary: { text: '', records: [] },
      };
    }
    const { items, timingsMs, cached } = result;
    const hot = items.filter(({ tier }) => tier === 'hot').length;
    return {
      strategy: this.name,
      memories: distinctMemories(items),
      timingsMs,
      flags: cached ? [{ flag: 'cached', reason: 'results of long-term memory came from the query cache' }] : [],
      summary: { text: output.history_context, records: items },
      details: { hot, coldChunks: items.length - hot },
    };
  }

  async reset(): Promise<void> {
    this.#memory.reset();
  }

  stats(): Readonly<Record<string, unknown>> {
    const { hot, cold } = this.#parts;
    return {
      hot: { name: hot.name, version: hot.version },
      cold: { name: cold.name, version: cold.version },
      wouldBeFiltered: { ...this.#filter },
      queryCache: this.#memory.cacheStats(),
      failures: this.#failures,
    };
  }

  close(): Promise<void> {
    return this.#parts.close();
  }
}

/** Names the group of a user; no user id gives the group of memories without a user. */
function groupName(userId: string | undefined): string {
  return userId === undefined ? 'nobody' : `user ${userId}`;
}

function toRecord({ memoryId, content, metadata = {}, userId, embedding }: NewMemory): EmbeddedRecord {
  const createdAt = metadata['createdAt'] as string | number | Date | undefined;
  const own = userId === undefined ? metadata : { ...metadata, userId };
  const createdAtMs = createdAt === undefined ? Date.now() : new Date(createdAt).getTime();
  return { memoryId, content, metadata: own, createdAtMs, embedding };
}

/** Lists each memory once, at its best rank. */
function distinctMemories(items: readonly ContextItem[]): MemorySearchResult[] {
  const byMemory = Map.groupBy(items, ({ memoryId }) => memoryId);
  return Array.from(byMemory.values(), ([best]) => {
    const { memoryId, content, score, metadata } = best!;
    return { memoryId, content, score, metadata };
  });
}
