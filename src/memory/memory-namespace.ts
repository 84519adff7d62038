import type { VectorBackend, VectorIndex } from './vector-index.ts';

/** A memory with its unit vector. */
export interface StoredMemory {
  readonly memoryId: string;
  readonly content: string;
  readonly embedding: Float32Array;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ScoredMemory {
  readonly memory: StoredMemory;
  readonly score: number;
}

/**
 * The memories of one user and their index. Rows of an index cannot be taken out one by one, so that a removal only
 * marks it; the next search builds it again from the stored vectors.
 *
 * @see seed 000 §4.2
 */
export class MemoryNamespace {
  readonly #backend: VectorBackend;
  readonly #dimension: number;
  /** In order of insertion, which is the order of the rows. */
  readonly #memories = new Map<string, StoredMemory>();
  #index: VectorIndex;
  /** The memory of each row. Not the number of memories at insertion, as in the seed: that repeats after a removal. */
  #rows: StoredMemory[] = [];
  #needsRebuild = false;

  constructor(backend: VectorBackend, dimension: number) {
    this.#backend = backend;
    this.#dimension = dimension;
    this.#index = backend.createIndex(dimension);
  }

  get size(): number {
    return this.#memories.size;
  }

  get needsRebuild(): boolean {
    return this.#needsRebuild;
  }

  /** Adds memories; one whose id is there already takes its place and becomes the newest. */
  add(memories: readonly StoredMemory[]): void {
    for (const memory of memories) {
      this.remove(memory.memoryId);
      this.#memories.set(memory.memoryId, memory);
    }
    // An index that will be built again needs no rows before.
    if (!this.#needsRebuild) this.#append(memories);
  }

  /** False where there is no such memory. */
  remove(memoryId: string): boolean {
    const removed = this.#memories.delete(memoryId);
    this.#needsRebuild ||= removed;
    return removed;
  }

  get(memoryId: string): StoredMemory | undefined {
    return this.#memories.get(memoryId);
  }

  list(): StoredMemory[] {
    return [...this.#memories.values()];
  }

  /** Builds the index from the stored vectors; nothing is embedded again. */
  rebuild(): void {
    this.#index = this.#backend.createIndex(this.#dimension);
    this.#rows = [];
    this.#append(this.list());
    this.#needsRebuild = false;
  }

  /** The `k` (at least 1) memories nearest to a unit vector, the best first, of one score the older first. */
  search(vector: Float32Array, k: number): ScoredMemory[] {
    if (this.#needsRebuild) this.rebuild();
    // Which of several equals a backend cuts off is its own affair: one more is asked for, until the cut is clear.
    let asked = Math.min(k + 1, this.size);
    let { ids, scores } = this.#index.search(vector, asked);
    while (asked < this.size && scores[k - 1] === scores[asked - 1]) {
      asked = Math.min(asked * 2, this.size);
      ({ ids, scores } = this.#index.search(vector, asked));
    }
    return ids
      .map((row, i) => ({ row, score: scores[i]! }))
      .sort((a, b) => b.score - a.score || a.row - b.row)
      .slice(0, k)
      .map(({ row, score }) => ({ memory: this.#rows[row]!, score }));
  }

  #append(memories: readonly StoredMemory[]): void {
    this.#index.add(memories.map(({ embedding }) => embedding));
    this.#rows.push(...memories);
  }
}
