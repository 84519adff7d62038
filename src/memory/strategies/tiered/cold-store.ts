/** A memory as long-term memory keeps it: cut into chunks, each with its vector. */
export interface ColdMemory {
  readonly memoryId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly chunks: readonly ColdChunk[];
}

export interface ColdChunk {
  readonly content: string;
  /** A unit vector of the store's dimension, or zeros: such a chunk is kept, and found by no search. */
  readonly embedding: Float32Array;
}

/** A chunk that was found. */
export interface ColdHit {
  readonly memoryId: string;
  /** Its place in its memory, from 0. */
  readonly chunk: number;
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  /** 1 − cosine distance, from −1 to 1. */
  readonly score: number;
}

/**
 * Long-term memory by group, searched by cosine. A group is a UUID (`uuidOf`). Every method may be called again after
 * it failed, with the result of one call that succeeded.
 *
 * All throw BenchError `database` where the store cannot be reached, written, or does not answer in time.
 */
export interface ColdStore {
  /** What it is, for the run's record: `sqlite+faiss-node`, `postgres`. */
  readonly name: string;
  /** Of the server, its vector extension, its index; of the library that searches. */
  readonly version: string;
  /** Keeps memories, all or none; one whose id is there is replaced with all its chunks, and becomes the newest. */
  replace(group: string, memories: readonly ColdMemory[]): Promise<void>;
  /**
   * The `count` chunks nearest to a unit vector, the best first, of one score those kept first first; none for zeros.
   * @param without ids of memories whose chunks do not count
   */
  search(group: string, vector: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]>;
  /** Removes a memory with all its chunks; false where there was none. */
  remove(group: string, memoryId: string): Promise<boolean>;
  /** Memories of a group. */
  count(group: string): Promise<number>;
  /** Removes all that the store's namespace holds; only `close` follows. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

/** Zeros have no direction, hence no cosine. */
export function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
