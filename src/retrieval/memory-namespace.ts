import type { VectorBackend, VectorIndex } from './vectors/vector-index.ts';
import { BenchError } from '../base/bench-error.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import type { NewMemory } from './retriever.ts';

/** A memory with its unit vector. */
export interface StoredMemory {
  readonly memoryId: string;
  readonly content: string;
  readonly embedding: Float32Array;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A memory and its score for a query. */
export interface ScoredMemory {
  readonly memory: StoredMemory;
  readonly score: number;
}

/**
 * The memories of one user and their index. An index cannot remove single rows, so a removal only marks it, and the next
 * search rebuilds it from the stored vectors.
 */
export class MemoryNamespace {
  readonly #backend: VectorBackend;
  readonly #dimension: number;
  readonly #onRebuild: (rows: number) => void;
  /** In order of insertion. */
  readonly #memories = new Map<string, StoredMemory>();
  #index: VectorIndex;
  /** The memory of each row of the index. The number of memories would not identify a row: it repeats after a removal. */
  #rows: StoredMemory[] = [];
  #needsRebuild = false;

  /** @param onRebuild is called after each rebuild with the number of rows */
  constructor(backend: VectorBackend, dimension: number, onRebuild: (rows: number) => void = () => undefined) {
    this.#onRebuild = onRebuild;
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

  /** Adds memories; one with a known id replaces the old one and becomes the newest. */
  add(memories: readonly StoredMemory[]): void {
    for (const memory of memories) {
      this.remove(memory.memoryId);
      this.#memories.set(memory.memoryId, memory);
    }
    // An index that will be rebuilt needs no rows now.
    if (!this.#needsRebuild) this.#append(memories);
  }

  /** Removes a memory; false if there is none. */
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

  /** Rebuilds the index from the stored vectors, without embedding again. */
  rebuild(): void {
    this.#index = this.#backend.createIndex(this.#dimension);
    this.#rows = [];
    this.#append(this.list());
    this.#needsRebuild = false;
    this.#onRebuild(this.#rows.length);
  }

  /** Returns the `k` (at least 1) memories nearest to a unit vector, best first; of equal scores, older first. */
  search(vector: Float32Array, k: number): ScoredMemory[] {
    if (this.#needsRebuild) this.rebuild();
    // Backends cut equal scores in any order: more rows are requested until the cut lies between different scores.
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

/** A memory with its unit vector and its user. */
export interface OwnedMemory {
  readonly userId: string | undefined;
  readonly memory: StoredMemory;
}

/**
 * Gives memories unit vectors, in order; those without a vector are embedded in one call. All or none.
 * @throws BenchError `bad-data` if a vector has another dimension or numbers that are not finite
 */
export async function embedMemories(
  embeddings: EmbeddingService,
  memories: readonly NewMemory[],
): Promise<OwnedMemory[]> {
  const dimension = await embeddings.dimension();
  const bare = memories.filter(({ embedding }) => embedding === undefined);
  const made = await embeddings.embedMany(bare.map(({ content }) => content));
  const vectors = new Map(bare.map((memory, i) => [memory, made[i]!]));
  return memories.map((memory) => ({
    userId: memory.userId,
    memory: storedMemory(memory, memory.embedding ?? vectors.get(memory)!, dimension),
  }));
}

function storedMemory(memory: NewMemory, vector: Float32Array, dimension: number): StoredMemory {
  const { memoryId, content, metadata, userId } = memory;
  const length = Math.hypot(...vector);
  if (vector.length !== dimension || !Number.isFinite(length)) {
    throw new BenchError(
      'bad-data',
      `memory '${memoryId}' has a vector of ${vector.length} numbers${Number.isFinite(length) ? '' : ', not all finite'}; the embedder gives ${dimension}`,
      'embed it again with the embedder of this run',
    );
  }
  return {
    memoryId,
    content,
    // A zero vector (a text without content) stays zero: it is similar to nothing.
    embedding: vector.map((value) => (length === 0 ? 0 : value / length)),
    metadata: userId === undefined ? { ...metadata } : { ...metadata, userId },
  };
}
