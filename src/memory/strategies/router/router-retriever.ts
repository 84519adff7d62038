import type { EmbeddingService } from '../../../embedding/embedding-service.ts';
import type { MemoryRouter } from '../../memory-router.ts';
import type { NewMemory } from '../../new-memory.ts';
import type { Retrieval, RetrieveOptions, Retriever } from '../../retriever.ts';

/** The router as a strategy: nearest by meaning, nothing else. @see seed 000 */
export class RouterRetriever implements Retriever {
  readonly name = 'router';
  readonly #router: MemoryRouter;
  readonly #embeddings: EmbeddingService;

  /** @param embeddings the service that the router embeds memories with */
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

  async retrieve(query: string, { userId, topK, threshold }: RetrieveOptions): Promise<Retrieval> {
    const start = performance.now();
    const vector = await this.#embeddings.embed(query, 'query');
    const embedded = performance.now();
    const memories = this.#router.searchVector(vector, { userId, topK, threshold });
    const searched = performance.now();
    return {
      strategy: this.name,
      memories,
      // The index returns them in order.
      timingsMs: { embedding: embedded - start, search: searched - embedded, ranking: 0 },
      flags: [],
      details: {},
    };
  }

  async reset(): Promise<void> {
    // It learns nothing from being asked.
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#router.stats() };
  }

  async close(): Promise<void> {
    // Its index is freed with the object.
  }
}
