import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { type EmbeddingService, unitVector } from '../models/embedding/embedding-service.ts';
import type { MemorySearchResult, NewMemory } from './retriever.ts';
import type { VectorBackend, VectorIndex } from './vectors/vector-backends.ts';

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
 * Reads a field of a memory's metadata.
 * @param schema with error messages that name the expected value
 * @throws BenchError `bad-data` that names memory, field and value
 */
export function readMetadata<Value>({ memoryId, metadata }: StoredMemory, field: string, schema: z.ZodType<Value>) {
  const { data, error } = schema.safeParse(metadata[field]);
  if (error === undefined) return data;
  const got = JSON.stringify(metadata[field]);
  const message = `memory '${memoryId}': ${field} expected ${error.issues[0]!.message}, got ${got}`;
  throw new BenchError('bad-data', message, 'correct its metadata, or leave the field out');
}

const expectedTime = 'a time such as 2026-03-01T09:00:00Z';

/** A time in the metadata, as milliseconds since 1970. */
export const metadataTime = z
  .string(expectedTime)
  .transform((time) => Date.parse(time))
  .pipe(z.number(expectedTime))
  .optional();

/**
 * Normalises the vectors of memories, and embeds memories without a vector in one call. The order is kept.
 * @throws BenchError `bad-data` if a vector has another dimension or numbers that are not finite
 */
export async function embedMemories(embeddings: EmbeddingService, memories: readonly NewMemory[]) {
  const dimension = await embeddings.dimension();
  const bare = memories.filter(({ embedding }) => embedding === undefined);
  const embedded = await embeddings.embedMany(bare.map(({ content }) => content));
  const vectors = new Map(bare.map((memory, i) => [memory, embedded[i]!]));
  return memories.map((memory) => {
    const { memoryId, userId, content, metadata } = memory;
    const refusal = (fault: string): BenchError => {
      const hint = 'embed it again with the embedder of this run';
      return new BenchError('bad-data', `memory '${memoryId}' has a vector of ${fault}`, hint);
    };
    const embedding = unitVector(memory.embedding ?? vectors.get(memory)!, dimension, refusal);
    return { memoryId, userId, content, embedding, metadata: { ...metadata, ...(userId !== undefined && { userId }) } };
  });
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
  /** Undefined after a removal, until the next rebuild. */
  #index: VectorIndex | undefined;
  /** The memory in each row of the index. */
  #rows: Memory[] = [];

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
    return this.#index === undefined;
  }

  /** Adds memories; one with a known id replaces the old one and becomes the newest. */
  add(memories: readonly Memory[]): void {
    for (const memory of memories) {
      this.remove(memory.memoryId);
      this.#memories.set(memory.memoryId, memory);
    }
    this.#index?.add(memories.map(({ embedding }) => embedding));
    this.#rows.push(...memories);
  }

  remove(memoryId: string): boolean {
    const removed = this.#memories.delete(memoryId);
    if (removed) this.#index = undefined;
    return removed;
  }

  get(memoryId: string): Memory | undefined {
    return this.#memories.get(memoryId);
  }

  list(): Memory[] {
    return [...this.#memories.values()];
  }

  /** Rebuilds the index from the stored vectors, without embedding again. */
  rebuild(): VectorIndex {
    this.#index = this.#createIndex();
    this.#rows = this.list();
    this.#index.add(this.#rows.map(({ embedding }) => embedding));
    this.#onRebuild(this.#rows.length);
    return this.#index;
  }

  /** Returns the `k` memories nearest to a unit vector, best first; of equal scores, older first. */
  search(vector: Float32Array, k: number): ScoredMemory<Memory>[] {
    const index = this.#index ?? this.rebuild();
    // Backends return equal scores in any order: request more rows until the last one scores less than the k-th.
    let requested = Math.min(k + 1, this.size);
    let { ids, scores } = index.search(vector, requested);
    while (requested < this.size && scores[k - 1] === scores[requested - 1]) {
      requested = Math.min(requested * 2, this.size);
      ({ ids, scores } = index.search(vector, requested));
    }
    return ids
      .map((row, i) => ({ row, score: scores[i]! }))
      .sort((a, b) => b.score - a.score || a.row - b.row)
      .slice(0, k)
      .map(({ row, score }) => ({ memory: this.#rows[row]!, score }));
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
