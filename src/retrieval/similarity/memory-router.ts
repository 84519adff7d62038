import { debuglog } from 'node:util';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import {
  embedMemories,
  MemoryVectorIndex,
  searchResult,
  type StoredMemory,
  UserIndexes,
} from '../memory-vector-index.ts';
import type { MemorySearchResult, NewMemory, Retrieval, RetrieveOptions, Retriever } from '../retriever.ts';
import { checkSearch, isEmptyQuery, retrieveNothing, type SearchOptions } from '../retriever.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';

/** Options of a router; `topK` and `threshold` are defaults for its searches. */
export interface MemoryRouterOptions {
  readonly backend: VectorBackend;
  /** Maximum number of results (`rag.topK`). */
  readonly topK: number;
  /** Minimum score (`rag.similarityThreshold`). */
  readonly threshold: number;
  /** Receives one line when an index is made, extended or rebuilt. Default: printed with `NODE_DEBUG=dki-router`. */
  readonly log?: (line: string) => void;
}

/**
 * Similarity search: ranks the memories of a user by the inner product of their unit vectors with the query's. Each user has
 * a separate index, so a search never touches the memories of another user.
 *
 * @example
 * ```ts
 * import { chooseVectorBackend, EmbeddingService, MemoryRouter, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const { backend } = chooseVectorBackend();
 * const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: 0.3 });
 * await router.addMemory({ memoryId: 'm1', userId: 'ann', content: 'I am a vegetarian.' });
 * const [best] = await router.search('What do I not eat?', { userId: 'ann' });
 * console.log(best?.content, best?.score);
 * ```
 */
export class MemoryRouter {
  readonly #embeddings: EmbeddingService;
  readonly #options: MemoryRouterOptions;
  readonly #log: (line: string) => void;
  readonly #namespaces = new UserIndexes<StoredMemory, MemoryVectorIndex>();
  #dimension: number | undefined;

  constructor(embeddings: EmbeddingService, options: MemoryRouterOptions) {
    this.#embeddings = embeddings;
    this.#options = options;
    this.#log = options.log ?? debuglog('dki-router');
  }

  /** Adds one memory; one with the same id and user is replaced. @throws as `addMemories` */
  async addMemory(memory: NewMemory): Promise<void> {
    await this.addMemories([memory]);
  }

  /**
   * Adds memories, all or none, and returns their number; those without a vector are embedded in one call.
   * @throws BenchError `bad-data` if a vector has another dimension or numbers that are not finite
   */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const { backend } = this.#options;
    const dimension = (this.#dimension ??= await this.#embeddings.dimension());
    const stored = await embedMemories(this.#embeddings, memories);
    this.#namespaces.addAll(stored, () => {
      this.#log(`index made: ${backend.name} ${backend.version}, ${dimension} dimensions`);
      return new MemoryVectorIndex(backend, dimension, (rows) => this.#log(`index rebuilt, vectors: ${rows}`));
    });
    this.#log(`memories added: ${memories.length}`);
    return memories.length;
  }

  /**
   * Returns the memories of one user that are nearest to the query, best first; of equal scores, older first; none for a query
   * of white space alone.
   * @throws BenchError `bad-option` if `topK` is not a whole number from 0, or `threshold` is NaN
   */
  async search(query: string, options: SearchOptions = {}): Promise<MemorySearchResult[]> {
    const { topK = this.#options.topK, threshold = this.#options.threshold } = options;
    checkSearch(topK, threshold);
    if (topK === 0 || isEmptyQuery(query) || !this.#namespaces.has(options.userId)) return [];
    return this.searchVector(await this.#embeddings.embed(query, 'query'), options);
  }

  /** Like `search`, for a query that is already embedded as a unit vector. */
  searchVector(vector: Float32Array, options: SearchOptions = {}): MemorySearchResult[] {
    const { topK = this.#options.topK, threshold = this.#options.threshold } = options;
    checkSearch(topK, threshold);
    if (topK === 0) return [];
    const found = this.#namespaces.get(options.userId)?.search(vector, topK) ?? [];
    // Rounding can put the cosine of opposite vectors below -1, but a threshold of -1 must accept all.
    return found.filter(({ score }) => Math.max(-1, score) >= threshold).map(searchResult);
  }

  /** Removes a memory of a user; false if there was none. The index is rebuilt at the next search. */
  removeMemory(memoryId: string, userId?: string): boolean {
    return this.#namespaces.remove(memoryId, userId);
  }

  /** Rebuilds all indexes from the stored vectors. */
  rebuildIndex(): void {
    for (const namespace of this.#namespaces.values()) namespace.rebuild();
  }

  /** Returns a memory of a user, or undefined. */
  getMemory(memoryId: string, userId?: string): StoredMemory | undefined {
    return this.#namespaces.get(userId)?.get(memoryId);
  }

  /** Lists the memories of a user, oldest first. */
  listMemories(userId?: string): StoredMemory[] {
    return this.#namespaces.get(userId)?.list() ?? [];
  }

  /** Backend, settings and sizes; `needRebuild` counts the indexes that the next search must rebuild. */
  stats(): Readonly<Record<string, unknown>> {
    const { backend, topK, threshold } = this.#options;
    return {
      backend: backend.name,
      backendVersion: backend.version,
      dimension: this.#dimension ?? null,
      memories: this.#namespaces.memoryCount,
      namespaces: this.#namespaces.size,
      needRebuild: [...this.#namespaces.values()].filter(({ needsRebuild }) => needsRebuild).length,
      topK,
      threshold,
    };
  }
}

/**
 * Strategy `router`: the memories nearest in meaning, by a `MemoryRouter`.
 *
 * @example
 * ```ts
 * import { chooseVectorBackend, EmbeddingService, MemoryRouter, RouterRetriever, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const { backend } = chooseVectorBackend();
 * const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: -1 });
 * const retriever = new RouterRetriever(router, embeddings);
 * await retriever.addMemories([{ memoryId: 'm1', userId: 'ann', content: 'My dog is called Rex.' }]);
 * const { memories } = await retriever.retrieve('What is my dog called?', { userId: 'ann', topK: 5, threshold: -1 });
 * ```
 */
export class RouterRetriever implements Retriever {
  readonly name = 'router';
  readonly #router: MemoryRouter;
  readonly #embeddings: EmbeddingService;

  /** @param embeddings the service with which the router embeds memories */
  constructor(router: MemoryRouter, embeddings: EmbeddingService) {
    this.#router = router;
    this.#embeddings = embeddings;
  }

  addMemories(memories: readonly NewMemory[]): Promise<number> {
    return this.#router.addMemories(memories);
  }

  async removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    return this.#router.removeMemory(memoryId, userId);
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    if (isEmptyQuery(query)) return retrieveNothing(this.name, options);
    const start = performance.now();
    const vector = await this.#embeddings.embed(query, 'query');
    const embedded = performance.now();
    const memories = this.#router.searchVector(vector, options);
    const searched = performance.now();
    return {
      strategy: this.name,
      memories,
      // No ranking: the index returns memories in order.
      timingsMs: { embedding: embedded - start, search: searched - embedded, ranking: 0 },
      flags: [],
      details: {},
    };
  }

  async reset(): Promise<void> {
    // Queries leave no state.
  }

  stats(): Readonly<Record<string, unknown>> {
    return this.#router.stats();
  }

  async close(): Promise<void> {
    // The index is freed with the object.
  }
}
