import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import type { MemoryRouter } from './memory-router.ts';
import type { NewMemory, Retrieval, RetrieveOptions, Retriever } from './retriever.ts';
import { isEmptyQuery, retrieveNothing } from './retriever.ts';

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
      // The index returns memories in order.
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
