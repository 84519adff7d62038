import { BenchError } from '../config/bench-error.ts';
import type { EmbeddingService } from '../embedding/embedding-service.ts';
import { MemoryNamespace, type StoredMemory } from './memory-namespace.ts';
import type { MemorySearchResult } from './memory-search-result.ts';
import type { VectorBackend } from './vector-index.ts';

export interface MemoryRouterOptions {
  readonly backend: VectorBackend;
  /** Memories a search gives at most (`rag.topK`). */
  readonly topK: number;
  /** The lowest score that counts (`rag.similarityThreshold`). */
  readonly threshold: number;
}

/** A memory to add. An id is unique within its user. */
export interface NewMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Of the embedding service's dimension and any length but zero; made from the content where not given. */
  readonly embedding?: Float32Array | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** A memory without a user stands in a namespace of its own. */
  readonly userId?: string | undefined;
}

export interface MemorySearchOptions {
  readonly userId?: string | undefined;
  /** 0 gives nothing. */
  readonly topK?: number | undefined;
  /** Scores may be negative: −1 lets everything through. */
  readonly threshold?: number | undefined;
}

export interface MemoryRouterStats {
  readonly backend: string;
  readonly backendVersion: string;
  /** Null before the first memory. */
  readonly dimension: number | null;
  readonly memories: number;
  readonly namespaces: number;
  /** Indexes that the next search has to build again. */
  readonly needRebuild: number;
  readonly topK: number;
  readonly threshold: number;
}

/**
 * Recall by meaning: memories and queries as unit vectors, compared by exact inner product, one index a user. A
 * search for one user never sees, and never filters away, the memories of another.
 *
 * @see seed 000
 *
 * @example
 * const { backend } = chooseVectorBackend();
 * const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: 0.3 });
 * await router.addMemory({ memoryId: 'm1', userId: 'ann', content: 'I am a vegetarian.' });
 * const [best] = await router.search('What do I not eat?', { userId: 'ann' });
 */
export class MemoryRouter {
  readonly #embeddings: EmbeddingService;
  readonly #options: MemoryRouterOptions;
  /** By user; undefined for memories without one. */
  readonly #namespaces = new Map<string | undefined, MemoryNamespace>();
  #dimension: number | undefined;

  constructor(embeddings: EmbeddingService, options: MemoryRouterOptions) {
    this.#embeddings = embeddings;
    this.#options = options;
  }

  /** Adds one memory; an id that its user has already is replaced. @throws as `addMemories` does */
  async addMemory(memory: NewMemory): Promise<void> {
    await this.addMemories([memory]);
  }

  /**
   * Adds memories, all or none, those without a vector embedded in one call, and returns how many.
   *
   * @throws BenchError `bad-data` where a vector has another dimension or numbers that are none
   */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const dimension = (this.#dimension ??= await this.#embeddings.dimension());
    const bare = memories.filter(({ embedding }) => embedding === undefined);
    const made = await this.#embeddings.embedMany(bare.map(({ content }) => content));
    const vectors = new Map(bare.map((memory, i) => [memory, made[i]!]));
    const stored = memories.map((memory) => ({
      userId: memory.userId,
      memory: storedMemory(memory, memory.embedding ?? vectors.get(memory)!, dimension),
    }));
    for (const { userId, memory } of stored) this.#namespace(userId, dimension).add([memory]);
    return memories.length;
  }

  /**
   * The memories of one user that are nearest to the query, the best first, of one score the older first.
   *
   * @throws BenchError `bad-option` where `topK` is no whole number from 0, or `threshold` no number
   */
  async search(query: string, options: MemorySearchOptions = {}): Promise<MemorySearchResult[]> {
    const { userId, topK = this.#options.topK, threshold = this.#options.threshold } = options;
    if (!Number.isInteger(topK) || topK < 0) {
      throw new BenchError('bad-option', `topK is ${topK}`, 'give a whole number from 0');
    }
    if (Number.isNaN(threshold)) {
      throw new BenchError('bad-option', 'the similarity threshold is no number', 'give one from -1 to 1');
    }
    if (topK === 0 || !this.#namespaces.has(userId)) return [];
    const vector = await this.#embeddings.embed(query);
    // Looked up again: the last memory may have been removed while the query was embedded.
    const found = this.#namespaces.get(userId)?.search(vector, topK) ?? [];
    return found
      .filter(({ score }) => score >= threshold)
      .map(({ memory: { memoryId, content, metadata }, score }) => ({ memoryId, content, score, metadata }));
  }

  /** Removes a memory of a user; false where there was none. The index is built again at the next search. */
  removeMemory(memoryId: string, userId?: string): boolean {
    const namespace = this.#namespaces.get(userId);
    const removed = namespace?.remove(memoryId) ?? false;
    if (namespace?.size === 0) this.#namespaces.delete(userId);
    return removed;
  }

  /** Builds all indexes again from the stored vectors. */
  rebuildIndex(): void {
    for (const namespace of this.#namespaces.values()) namespace.rebuild();
  }

  /** A memory of a user, or undefined. */
  getMemory(memoryId: string, userId?: string): StoredMemory | undefined {
    return this.#namespaces.get(userId)?.get(memoryId);
  }

  /** The memories of a user, the oldest first. */
  listMemories(userId?: string): StoredMemory[] {
    return this.#namespaces.get(userId)?.list() ?? [];
  }

  stats(): MemoryRouterStats {
    const { backend, topK, threshold } = this.#options;
    const namespaces = [...this.#namespaces.values()];
    return {
      backend: backend.name,
      backendVersion: backend.version,
      dimension: this.#dimension ?? null,
      memories: namespaces.reduce((sum, { size }) => sum + size, 0),
      namespaces: namespaces.length,
      needRebuild: namespaces.filter(({ needsRebuild }) => needsRebuild).length,
      topK,
      threshold,
    };
  }

  #namespace(userId: string | undefined, dimension: number): MemoryNamespace {
    let namespace = this.#namespaces.get(userId);
    if (namespace === undefined) {
      namespace = new MemoryNamespace(this.#options.backend, dimension);
      this.#namespaces.set(userId, namespace);
    }
    return namespace;
  }
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
    // A vector of zeros (a text without content) stays one: it is similar to nothing.
    embedding: vector.map((value) => (length === 0 ? 0 : value / length)),
    metadata: userId === undefined ? { ...metadata } : { ...metadata, userId },
  };
}
