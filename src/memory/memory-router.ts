import type { EmbeddingService } from '../embedding/embedding-service.ts';
import { embedMemories } from './embed-memories.ts';
import { MemoryNamespace, type StoredMemory } from './memory-namespace.ts';
import type { MemorySearchResult } from './memory-search-result.ts';
import type { NewMemory } from './new-memory.ts';
import { checkSearch } from './search-options.ts';
import type { VectorBackend } from './vector-index.ts';

export interface MemoryRouterOptions {
  readonly backend: VectorBackend;
  /** Memories a search gives at most (`rag.topK`). */
  readonly topK: number;
  /** The lowest score that counts (`rag.similarityThreshold`). */
  readonly threshold: number;
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
    const stored = await embedMemories(this.#embeddings, memories);
    for (const { userId, memory } of stored) this.#namespace(userId, dimension).add([memory]);
    return memories.length;
  }

  /**
   * The memories of one user that are nearest to the query, the best first, of one score the older first.
   *
   * @throws BenchError `bad-option` where `topK` is no whole number from 0, or `threshold` no number
   */
  async search(query: string, options: MemorySearchOptions = {}): Promise<MemorySearchResult[]> {
    const { topK } = this.#checked(options);
    if (topK === 0 || !this.#namespaces.has(options.userId)) return [];
    return this.searchVector(await this.#embeddings.embed(query, 'query'), options);
  }

  /** As `search`, for the unit vector of a query. */
  searchVector(vector: Float32Array, options: MemorySearchOptions = {}): MemorySearchResult[] {
    const { topK, threshold } = this.#checked(options);
    if (topK === 0) return [];
    const found = this.#namespaces.get(options.userId)?.search(vector, topK) ?? [];
    // A cosine of opposite vectors may come out a rounding below -1, the threshold that lets all pass.
    const relevant = found.filter(({ score }) => Math.max(-1, score) >= threshold);
    return relevant.map(({ memory: { memoryId, content, metadata }, score }) => ({
      memoryId,
      content,
      score,
      metadata,
    }));
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

  #checked({ topK = this.#options.topK, threshold = this.#options.threshold }: MemorySearchOptions): {
    readonly topK: number;
    readonly threshold: number;
  } {
    checkSearch(topK, threshold);
    return { topK, threshold };
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
