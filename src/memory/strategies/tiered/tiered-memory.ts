import type { EmbeddingService } from '../../../embedding/embedding-service.ts';
import { embedMemories } from '../../embed-memories.ts';
import type { RetrievalTimings } from '../../retriever.ts';
import type { ColdChunk, ColdHit, ColdMemory, ColdStore } from './cold-store.ts';
import type { ContextItem } from './history-summary.ts';
import type { HotShelf, HotStore } from './hot-store.ts';
import { ingressVerdict, type IngressVerdict } from './ingress-filter.ts';
import { checkedRecord, uuidOf, type MemoryRecord } from './memory-record.ts';
import { QueryCache, type QueryCacheStats } from './query-cache.ts';
import { splitRecursively } from './recursive-splitter.ts';

/** Working memories that every retrieval returns, and chunks that it finds in long-term memory. */
const HOT_RECORDS = 10;
/** Memories promoted, and embedded, at a time. */
const PROMOTION_BATCH = 500;
const CACHED_QUERIES = 1_000;
const CACHED_MS = 60_000;

const SHELVES: readonly HotShelf[] = ['quarantine', 'working', 'waiting'];

export interface TieredMemoryParts {
  readonly hot: HotStore;
  readonly cold: ColdStore;
  readonly embeddings: EmbeddingService;
}

/** A record with its vector, where somebody made it already. */
export interface EmbeddedRecord extends MemoryRecord {
  readonly embedding?: Float32Array | undefined;
}

export interface TieredQuery {
  readonly query: string;
  /** Chunks that are looked for in long-term memory; 0 retrieves nothing, of working memory neither. */
  readonly limit: number;
  /** Chunks that score lower are not returned; working memory always is. */
  readonly threshold: number;
  /** Working memory that is younger does not exist yet. */
  readonly now: Date;
}

export interface TieredResult {
  /** Working memory, the newest first, then chunks of long-term memory, the best first. */
  readonly items: readonly ContextItem[];
  readonly timingsMs: RetrievalTimings;
  /** Long-term memory was not asked: the query was frequent. */
  readonly cached: boolean;
}

/**
 * The three-layer memory protocol: what comes in lies in quarantine, where no search sees it; what passes the ingress
 * filter becomes working memory; what is promoted is cut, embedded in batches and becomes long-term memory. A record
 * that was promoted stays working memory for as long as it is among the newest.
 *
 * Every method that writes may be called again after it failed: nothing is then lost, or there twice.
 * @see seed 001
 */
export class TieredMemory {
  readonly #hot: HotStore;
  readonly #cold: ColdStore;
  readonly #embeddings: EmbeddingService;
  readonly #cache = new QueryCache<readonly ColdHit[]>(CACHED_QUERIES, CACHED_MS);
  /** Rises with every write to a group: what was cached before is not found after it. */
  readonly #writes = new Map<string, number>();

  constructor({ hot, cold, embeddings }: TieredMemoryParts) {
    this.#hot = hot;
    this.#cold = cold;
    this.#embeddings = embeddings;
  }

  /** Layer one: keeps records where no search sees them. @throws BenchError `bad-data`, `database` */
  async quarantine(group: string, records: readonly MemoryRecord[]): Promise<void> {
    await this.#hot.put(uuidOf(group), ['quarantine'], records.map(checkedRecord));
  }

  /**
   * Layer two: moves what passes the ingress filter from quarantine to working memory, where it waits to be promoted.
   * What is refused stays in quarantine, what is ignored goes.
   */
  async admit(group: string): Promise<Readonly<Record<IngressVerdict, number>>> {
    const key = uuidOf(group);
    const records = await this.#hot.oldest(key, 'quarantine', Number.MAX_SAFE_INTEGER);
    const by = (wanted: IngressVerdict): MemoryRecord[] =>
      records.filter((record) => ingressVerdict(record) === wanted);
    const [admitted, ignored] = [by('admitted'), by('ignored')];
    // In this order: a record that was moved half is moved again, and is one by its id.
    if (admitted.length > 0) await this.#hot.put(key, ['working', 'waiting'], admitted);
    await this.#hot.remove(
      key,
      ['quarantine'],
      [...admitted, ...ignored].map(({ memoryId }) => memoryId),
    );
    return {
      admitted: admitted.length,
      ignored: ignored.length,
      refused: records.length - admitted.length - ignored.length,
    };
  }

  /** Layer three: promotes all that waits, in batches, the oldest first; how many. */
  async promote(group: string): Promise<number> {
    const key = uuidOf(group);
    let promoted = 0;
    for (;;) {
      const batch = await this.#hot.oldest(key, 'waiting', PROMOTION_BATCH);
      if (batch.length === 0) return promoted;
      await this.#keep(key, batch);
      await this.#hot.remove(
        key,
        ['waiting'],
        batch.map(({ memoryId }) => memoryId),
      );
      promoted += batch.length;
    }
  }

  /**
   * Loads memories that somebody vouches for, past quarantine and filter: into long-term memory by promotion, and into
   * working memory, which their age divides. Gives what the filter would have said of each.
   */
  async load(group: string, records: readonly EmbeddedRecord[]): Promise<readonly IngressVerdict[]> {
    const key = uuidOf(group);
    // Of one id the last: in one batch it would be there twice.
    const checked = [
      ...new Map(
        records.map(({ embedding, ...record }) => [record.memoryId, { ...checkedRecord(record), embedding }]),
      ).values(),
    ];
    for (let start = 0; start < checked.length; start += PROMOTION_BATCH) {
      await this.#keep(key, checked.slice(start, start + PROMOTION_BATCH));
    }
    const plain = checked.map(({ embedding: _, ...record }) => record);
    await this.#hot.put(key, ['working'], plain);
    return plain.map(ingressVerdict);
  }

  /** Removes a memory from all three layers; false where it was in none. */
  async forget(group: string, memoryId: string): Promise<boolean> {
    const key = uuidOf(group);
    this.#written(key);
    const hot = await this.#hot.remove(key, SHELVES, [memoryId]);
    const cold = await this.#cold.remove(key, memoryId);
    this.#written(key);
    return hot > 0 || cold;
  }

  /** Working memory, then what long-term memory has besides. @throws BenchError `database` where a store fails */
  async retrieve(group: string, { query, limit, threshold, now }: TieredQuery): Promise<TieredResult> {
    if (limit === 0) return { items: [], timingsMs: { embedding: 0, search: 0, ranking: 0 }, cached: false };
    const key = uuidOf(group);
    const start = performance.now();
    const hot = await this.#hot.newest(key, 'working', HOT_RECORDS, now.getTime());
    const without = hot.map(({ memoryId }) => memoryId);
    const cacheKey = JSON.stringify([key, this.#writes.get(key) ?? 0, limit, without, query]);
    let hits = this.#cache.get(cacheKey);
    const cached = hits !== undefined;
    let embeddingMs = 0;
    if (hits === undefined) {
      const embeddingStart = performance.now();
      const vector = await this.#embeddings.embed(query, 'query');
      embeddingMs = performance.now() - embeddingStart;
      hits = await this.#cold.search(key, vector, limit, without);
      this.#cache.set(cacheKey, hits);
    }
    const ranking = performance.now();
    const items = [
      ...hot.map((record): ContextItem => ({ ...contextOf(record), score: 1, tier: 'hot' })),
      ...hits
        .filter(({ score }) => score >= threshold)
        .map((hit): ContextItem => ({ ...contextOf(hit), score: hit.score, tier: 'cold' })),
    ];
    return {
      items,
      timingsMs: {
        embedding: embeddingMs,
        search: ranking - start - embeddingMs,
        ranking: performance.now() - ranking,
      },
      cached,
    };
  }

  /** Forgets cached queries. */
  reset(): void {
    this.#cache.clear();
  }

  cacheStats(): QueryCacheStats {
    return this.#cache.stats();
  }

  /** Cuts, embeds in one call, and keeps. */
  async #keep(key: string, records: readonly EmbeddedRecord[]): Promise<void> {
    const chunks = records.flatMap(({ memoryId, content, embedding }) =>
      splitRecursively(content).map((chunk) => ({
        memoryId,
        content: chunk,
        embedding: chunk === content ? embedding : undefined,
      })),
    );
    const embedded = (await embedMemories(this.#embeddings, chunks)).map(({ memory }) => memory);
    const byMemory = new Map(records.map(({ memoryId }) => [memoryId, [] as ColdChunk[]]));
    for (const { memoryId, content, embedding } of embedded) byMemory.get(memoryId)!.push({ content, embedding });
    this.#written(key);
    await this.#cold.replace(
      key,
      records.map(({ memoryId, metadata, createdAtMs }): ColdMemory => ({
        memoryId,
        metadata,
        createdAtMs,
        chunks: byMemory.get(memoryId)!,
      })),
    );
    this.#written(key);
  }

  /** Before a write and after it: what is found meanwhile may be either, and is cached for neither. */
  #written(key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1);
  }
}

function contextOf({
  memoryId,
  content,
  metadata,
}: MemoryRecord | ColdHit): Pick<ContextItem, 'memoryId' | 'content' | 'metadata'> {
  return { memoryId, content, metadata };
}
