import { LRUCache } from 'lru-cache';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { embedMemories } from '../memory-vector-index.ts';
import type { MemorySearchResult } from '../retriever.ts';
import { type ColdHit, type ColdStore, deriveUuid } from './cold-store.ts';
import type { HotShelf, HotStore } from './hot-store.ts';
import { batches } from '../../base/batches.ts';
import { checkRecord, ingressVerdict, type IngressVerdict, type MemoryRecord } from './memory-record.ts';
import { splitIntoChunks } from './split-into-chunks.ts';

/** Number of newest records of working memory that every retrieval returns. */
const HOT_RECORDS = 10;
/** Records promoted and embedded in one batch. */
const PROMOTION_BATCH = 500;
const CACHED_QUERIES = 1_000;
const CACHED_MS = 60_000;

const SHELVES: readonly HotShelf[] = ['quarantine', 'working', 'waiting'];

/** Stores and embeddings of a tiered memory. */
export interface TieredMemoryParts {
  readonly hot: HotStore;
  readonly cold: ColdStore;
  readonly embeddings: EmbeddingService;
}

/** A record with its vector, if there is one already. */
export interface EmbeddedRecord extends MemoryRecord {
  readonly embedding?: Float32Array | undefined;
}

/** A query to a tiered memory. */
export interface TieredQuery {
  readonly query: string;
  /** Maximum number of chunks of long-term memory; 0 retrieves nothing at all. */
  readonly limit: number;
  /** Minimum score of a chunk; working memory is always returned. */
  readonly threshold: number;
  /** Working memory created later is ignored. */
  readonly now: Date;
}

/**
 * Three-layer memory protocol: new records lie in quarantine, where no search reads them; records that pass the ingress
 * filter become working memory; promoted records are split, embedded in batches and become long-term memory. A promoted
 * record stays in working memory as long as it is among the newest.
 *
 * A failed write can be repeated: nothing is lost or stored twice.
 *
 * @example
 * ```ts
 * import type { TieredMemory } from 'dki-bench';
 *
 * async function remember(memory: TieredMemory, group: string, content: string): Promise<number> {
 *   await memory.quarantine(group, [{ memoryId: 'm1', content, metadata: {}, createdAtMs: Date.now() }]);
 *   const { admitted } = await memory.admit(group);
 *   await memory.promote(group);
 *   return admitted;
 * }
 * ```
 */
export class TieredMemory {
  readonly #parts: TieredMemoryParts;
  /** Results expire, because other processes may write too. */
  readonly #cache = new LRUCache<string, readonly ColdHit[]>({ max: CACHED_QUERIES, ttl: CACHED_MS });
  #cacheHits = 0;
  #cacheMisses = 0;
  /** Number of writes by group, part of the cache key, so that a write invalidates cached results. */
  readonly #writes = new Map<string, number>();

  constructor(parts: TieredMemoryParts) {
    this.#parts = parts;
  }

  /** Layer one: stores records where no search reads them. @throws BenchError `bad-data`, `database` */
  async quarantine(group: string, records: readonly MemoryRecord[]): Promise<void> {
    await this.#parts.hot.put(deriveUuid(group), ['quarantine'], records.map(checkRecord));
  }

  /**
   * Layer two: moves records that pass the ingress filter from quarantine to working memory, where they wait for promotion.
   * Refused records stay in quarantine, ignored ones are deleted. @returns counts by verdict
   */
  async admit(group: string): Promise<Readonly<Record<IngressVerdict, number>>> {
    const key = deriveUuid(group);
    const records = await this.#parts.hot.oldest(key, 'quarantine', Number.MAX_SAFE_INTEGER);
    const { admitted = [], ignored = [], refused = [] } = Object.groupBy(records, ingressVerdict);
    // Put before remove: if the move fails halfway, it is repeated, and ids prevent duplicates.
    if (admitted.length > 0) await this.#parts.hot.put(key, ['working', 'waiting'], admitted);
    await this.#parts.hot.remove(key, ['quarantine'], ids([...admitted, ...ignored]));
    return { admitted: admitted.length, ignored: ignored.length, refused: refused.length };
  }

  /** Layer three: promotes all waiting records in batches, oldest first. @returns their number */
  async promote(group: string): Promise<number> {
    const key = deriveUuid(group);
    let promoted = 0;
    for (;;) {
      const batch = await this.#parts.hot.oldest(key, 'waiting', PROMOTION_BATCH);
      if (batch.length === 0) return promoted;
      await this.#store(key, batch);
      await this.#parts.hot.remove(key, ['waiting'], ids(batch));
      promoted += batch.length;
    }
  }

  /**
   * Loads trusted memories without quarantine and filter, into long-term and into working memory.
   * @returns the verdict that the filter would have given for each
   */
  async load(group: string, records: readonly EmbeddedRecord[]): Promise<readonly IngressVerdict[]> {
    const key = deriveUuid(group);
    // Keep the last record of each id: a batch must not contain an id twice.
    const byId = new Map(records.map((record) => [record.memoryId, record]));
    const checked = [...byId.values()].map(({ embedding, ...record }) => ({ ...checkRecord(record), embedding }));
    for (const batch of batches(checked, PROMOTION_BATCH)) await this.#store(key, batch);
    const plain = checked.map(({ embedding: _, ...record }) => record);
    await this.#parts.hot.put(key, ['working'], plain);
    return plain.map(ingressVerdict);
  }

  /** Removes a memory from all three layers; false if it was in none. */
  async forget(group: string, memoryId: string): Promise<boolean> {
    const key = deriveUuid(group);
    this.#written(key);
    const hot = await this.#parts.hot.remove(key, SHELVES, [memoryId]);
    const cold = await this.#parts.cold.remove(key, memoryId);
    this.#written(key);
    return hot > 0 || cold;
  }

  /**
   * Retrieves working memory, newest first, then chunks of other memories from long-term memory, best first.
   * @returns `cached` if the chunks came from the query cache
   * @throws BenchError `database` if a store fails
   */
  async retrieve(group: string, { query, limit, threshold, now }: TieredQuery) {
    if (limit === 0) return { items: [], timingsMs: { embedding: 0, search: 0, ranking: 0 }, cached: false };
    const key = deriveUuid(group);
    const start = performance.now();
    const hot = await this.#parts.hot.newest(key, 'working', HOT_RECORDS, now.getTime());
    const without = ids(hot);
    const cacheKey = JSON.stringify([key, this.#writes.get(key) ?? 0, limit, without, query]);
    let hits = this.#cache.get(cacheKey);
    const cached = hits !== undefined;
    let embeddingMs = 0;
    if (hits !== undefined) this.#cacheHits++;
    else {
      this.#cacheMisses++;
      const embeddingStart = performance.now();
      const vector = await this.#parts.embeddings.embed(query, 'query');
      embeddingMs = performance.now() - embeddingStart;
      hits = await this.#parts.cold.search(key, vector, limit, without);
      this.#cache.set(cacheKey, hits);
    }
    const searched = performance.now();
    const relevant = hits.filter(({ score }) => score >= threshold);
    const items = [
      ...hot.map((record) => contextItem(record, 1, 'hot')),
      ...relevant.map((hit) => contextItem(hit, hit.score, 'cold')),
    ];
    const ranking = performance.now() - searched;
    return { items, timingsMs: { embedding: embeddingMs, search: searched - start - embeddingMs, ranking }, cached };
  }

  /** Clears the query cache. */
  reset(): void {
    this.#cache.clear();
    this.#cacheHits = 0;
    this.#cacheMisses = 0;
  }

  /** Results of earlier queries in the cache, and how often they were used. */
  cacheStats(): { readonly entries: number; readonly hits: number; readonly misses: number } {
    return { entries: this.#cache.size, hits: this.#cacheHits, misses: this.#cacheMisses };
  }

  /** Splits records, embeds them in one call, and stores them. */
  async #store(key: string, records: readonly EmbeddedRecord[]): Promise<void> {
    const chunks = records.flatMap(({ memoryId, content: whole, embedding: given }) =>
      splitIntoChunks(whole).map((content) => {
        return { memoryId, content, embedding: content === whole ? given : undefined };
      }),
    );
    const embedded = await embedMemories(this.#parts.embeddings, chunks);
    const byMemory = Map.groupBy(embedded, ({ memoryId }) => memoryId);
    const memories = records.map(({ memoryId, metadata, createdAtMs }) => {
      return { memoryId, metadata, createdAtMs, chunks: byMemory.get(memoryId) ?? [] };
    });
    this.#written(key);
    await this.#parts.cold.replace(key, memories);
    this.#written(key);
  }

  /** Called before and after a write, so that results found during it are never reused. */
  #written(key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1);
  }
}

function ids(records: readonly MemoryRecord[]): string[] {
  return records.map(({ memoryId }) => memoryId);
}

/** A record of working memory, with score 1, or a chunk of long-term memory, with score 1 − cosine distance. */
export interface ContextItem extends MemorySearchResult {
  readonly tier: 'hot' | 'cold';
}

function contextItem(record: MemoryRecord | ColdHit, score: number, tier: ContextItem['tier']): ContextItem {
  const { memoryId, content, metadata } = record;
  return { memoryId, content, metadata, score, tier };
}
