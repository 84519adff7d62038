import type { MemoryRecord } from './memory-record.ts';
import { createHash } from 'node:crypto';

/** A memory as long-term memory stores it: chunks with their vectors. */
export interface ColdMemory extends Omit<MemoryRecord, 'content'> {
  readonly chunks: readonly ColdChunk[];
}

/** A chunk of a memory. */
export interface ColdChunk {
  readonly content: string;
  /** Unit vector of the store's dimension. A chunk with a zero vector is stored, but never found. */
  readonly embedding: Float32Array;
}

/** A chunk found by a search, with the fields of its memory; `content` is that of the chunk. */
export interface ColdHit extends MemoryRecord {
  /** Index of the chunk in its memory. */
  readonly chunk: number;
  /** 1 − cosine distance, from −1 to 1. */
  readonly score: number;
}

/**
 * Port to long-term memory: memories in groups, searched by cosine. A group is a UUID (`deriveUuid`). Repeating a failed call
 * has the effect of one call. Adapters: `SqliteColdStore`, `PostgresColdStore`.
 *
 * All methods throw BenchError `database` if the store cannot be reached or written, or does not answer in time.
 *
 * @example
 * ```ts
 * import type { ColdStore } from 'dki-bench';
 *
 * async function nearest(store: ColdStore, group: string, vector: Float32Array): Promise<string | undefined> {
 *   const [hit] = await store.search(group, vector, 1, []);
 *   return hit?.content;
 * }
 * ```
 */
export interface ColdStore {
  /** Kind of the store, for the run's record: `sqlite+faiss-node`, `postgres`. */
  readonly name: string;
  /** Versions of the server, its vector extension and index, or of the vector library. */
  readonly version: string;
  /** Stores memories, all or none; one with a known id is replaced with all its chunks and becomes the newest. */
  replace(group: string, memories: readonly ColdMemory[]): Promise<void>;
  /**
   * Returns the `count` chunks nearest to a unit vector, best first; of equal scores, older first; none for a zero vector.
   * @param without ids of memories whose chunks are excluded
   */
  search(group: string, vector: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]>;
  /** Removes a memory with all its chunks; false if there was none. */
  remove(group: string, memoryId: string): Promise<boolean>;
  /** Memories of a group. */
  count(group: string): Promise<number>;
  /** Removes everything in the store's namespace; only `close` may follow. */
  drop(): Promise<void>;
  /** Closes the connection or file; the data stay. */
  close(): Promise<void>;
}

/** True for a zero vector, which has no direction and no cosine. */
export function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}

/**
 * Derives a UUID from a name: the id of a group in every store. Names themselves never reach a store, so none can act as a
 * pattern, a separator or a statement.
 */
export function deriveUuid(name: string): string {
  // In UTF-16, where different unpaired surrogates stay different.
  const hex = createHash('sha256').update(name, 'utf16le').digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
