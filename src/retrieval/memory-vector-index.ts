import type { MemorySearchResult, NewMemory } from './retriever.ts';
import type { VectorBackend, VectorIndex } from './vectors/vector-index.ts';

export interface StoredMemory extends NewMemory {
  readonly embedding: Float32Array;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ScoredMemory<Memory extends StoredMemory = StoredMemory> {
  readonly memory: Memory;
  readonly score: number;
}

/** Leaves out the vector of a scored memory. */
export function searchResult({ memory, score }: ScoredMemory): MemorySearchResult {
  const { memoryId, content, metadata } = memory;
  return { memoryId, content, score, metadata };
}

/**
 * Memories, usually of one user, with their vector index. The index cannot remove single rows: after a
 * removal, the next search rebuilds it from the stored vectors.
 */
export class MemoryVectorIndex<Memory extends StoredMemory = StoredMemory> {
  readonly #createIndex: () => VectorIndex;
  readonly #onRebuild: (rows: number) => void;
  /** In order of insertion. */
  readonly #memories = new Map<string, Memory>();
  #index: VectorIndex;
  /** The memory in each row of the index; removed memories keep their rows until the next rebuild. */
  #rows: Memory[] = [];
  #needsRebuild = false;

  /** @param onRebuild is called after each rebuild with the number of rows */
  constructor(backend: VectorBackend, dimension: number, onRebuild: (rows: number) => void = () => undefined) {
    this.#createIndex = () => backend.createIndex(dimension);
    this.#onRebuild = onRebuild;
    this.#index = this.#createIndex();
  }

  get size(): number {
    return this.#memories.size;
  }

  get needsRebuild(): boolean {
    return this.#needsRebuild;
  }

  /** Adds memories; one with a known id replaces the old one and becomes the newest. */
  add(memories: readonly Memory[]): void {
    for (const memory of memories) {
      this.remove(memory.memoryId);
      this.#memories.set(memory.memoryId, memory);
    }
    // An index that will be rebuilt needs no rows now.
    if (!this.#needsRebuild) this.#append(memories);
  }

  remove(memoryId: string): boolean {
    const removed = this.#memories.delete(memoryId);
    this.#needsRebuild ||= removed;
    return removed;
  }

  get(memoryId: string): Memory | undefined {
    return this.#memories.get(memoryId);
  }

  list(): Memory[] {
    return [...this.#memories.values()];
  }

  /** Rebuilds the index from the stored vectors, without embedding again. */
  rebuild(): void {
    this.#index = this.#createIndex();
    this.#rows = [];
    this.#append(this.list());
    this.#needsRebuild = false;
    this.#onRebuild(this.#rows.length);
  }

  /** Returns the `k` memories nearest to a unit vector, best first; of equal scores, older first. */
  search(vector: Float32Array, k: number): ScoredMemory<Memory>[] {
    if (this.#needsRebuild) this.rebuild();
    // Backends return equal scores in any order: request more rows until the last one scores less than the k-th.
    let requested = Math.min(k + 1, this.size);
    let { ids, scores } = this.#index.search(vector, requested);
    while (requested < this.size && scores[k - 1] === scores[requested - 1]) {
      requested = Math.min(requested * 2, this.size);
      ({ ids, scores } = this.#index.search(vector, requested));
    }
    return ids
      .map((row, i) => ({ row, score: scores[i]! }))
      .sort((a, b) => b.score - a.score || a.row - b.row)
      .slice(0, k)
      .map(({ row, score }) => ({ memory: this.#rows[row]!, score }));
  }

  #append(memories: readonly Memory[]): void {
    this.#index.add(memories.map(({ embedding }) => embedding));
    this.#rows.push(...memories);
  }
}

interface UserIndex<Memory> {
  readonly size: number;
  add(memories: readonly Memory[]): void;
  remove(memoryId: string): boolean;
}

/** One index per user, under `undefined` for memories without a user; deleted with its last memory. */
export class UserIndexes<Memory extends StoredMemory, Index extends UserIndex<Memory>> extends Map<
  string | undefined,
  Index
> {
  addAll(memories: readonly Memory[], open: () => Index): void {
    for (const [userId, userMemories] of Map.groupBy(memories, (memory) => memory.userId)) {
      const index = this.get(userId) ?? open();
      index.add(userMemories);
      this.set(userId, index);
    }
  }

  remove(memoryId: string, userId: string | undefined): boolean {
    const index = this.get(userId);
    const removed = index?.remove(memoryId) ?? false;
    if (index?.size === 0) this.delete(userId);
    return removed;
  }

  get memoryCount(): number {
    return [...this.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
