import { BenchError } from '../base/bench-error.ts';
import { type RetrieverName, searchingRetrieverNames } from '../config/retriever-names.ts';
import {
  checkSearch,
  isEmptyQuery,
  type MemorySearchResult,
  type NewMemory,
  type Retrieval,
  retrieveNothing,
  type RetrieveOptions,
  type Retriever,
} from './retriever.ts';

/** A list has an order and no scores: each of its memories has this one. */
const NO_SCORE = 1;

/**
 * Strategy `given`: the passages that a question brings with it, in their order, cut to `topK`. It measures a retrieval that
 * was made outside the bench, so its own times are those of looking memories up.
 *
 * @example
 * ```ts
 * import { GivenRetriever } from 'dki-bench';
 *
 * const retriever = new GivenRetriever();
 * await retriever.addMemories([{ memoryId: 'm1', userId: 'ann', content: 'My dog is called Rex.' }]);
 * const options = { userId: 'ann', topK: 5, threshold: -1, passages: ['m1'] };
 * const { memories } = await retriever.retrieve('What is my dog called?', options);
 * ```
 */
export class GivenRetriever implements Retriever {
  readonly name = 'given';
  /** By user, then by id. */
  readonly #users = new Map<string | undefined, Map<string, NewMemory>>();

  addMemories(memories: readonly NewMemory[]): Promise<number> {
    for (const memory of memories) {
      const own = this.#users.get(memory.userId) ?? new Map<string, NewMemory>();
      this.#users.set(memory.userId, own.set(memory.memoryId, memory));
    }
    return Promise.resolve(memories.length);
  }

  removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    return Promise.resolve(this.#users.get(userId)?.delete(memoryId) ?? false);
  }

  /** @throws BenchError `bad-option` for a question without a list, besides those of the port */
  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    if (isEmptyQuery(query)) return retrieveNothing(this.name, options);
    const { userId, topK, threshold, passages } = options;
    checkSearch(topK, threshold);
    if (passages === undefined) {
      const message = 'retriever given: a question came without a list of passages';
      throw new BenchError('bad-option', message, `name the ids of its memories, or use ${searching}`);
    }
    const start = performance.now();
    const own = this.#users.get(userId);
    const listed = [...new Set(passages)];
    const memories = listed.flatMap((id) => own?.get(id) ?? []);
    const missing = listed.length - memories.length;
    return {
      strategy: this.name,
      memories: memories.slice(0, topK).map(found),
      timingsMs: { embedding: 0, search: performance.now() - start, ranking: 0 },
      flags:
        missing === 0
          ? []
          : [{ flag: 'degraded', reason: `${missing} of ${listed.length} listed memories are not there` }],
      details: { listed: listed.length },
    };
  }

  async reset(): Promise<void> {
    // Queries leave no state.
  }

  stats(): Readonly<Record<string, unknown>> {
    return { memories: [...this.#users.values()].reduce((sum, own) => sum + own.size, 0) };
  }

  async close(): Promise<void> {
    this.#users.clear();
  }
}

const searching = searchingRetrieverNames.join(', ');

function found({ memoryId, content, metadata, userId }: NewMemory): MemorySearchResult {
  return {
    memoryId,
    content,
    score: NO_SCORE,
    metadata: userId === undefined ? { ...metadata } : { ...metadata, userId },
  };
}

/** @throws BenchError `bad-option` for strategy `given`, where questions are those of nobody's data set */
export function requireSearching(retriever: RetrieverName): void {
  if (retriever !== 'given') return;
  const message = '--retriever given: only the items of a data set list passages; nobody lists them for this question';
  throw new BenchError('bad-option', message, `choose one that searches: ${searching}`);
}
