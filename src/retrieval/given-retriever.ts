import { BenchError } from '../base/bench-error.ts';
import { type RetrieverName, searchingRetrieverNames } from '../config/bench-config.ts';
import type { NewMemory, Retrieval, RetrieveOptions, Retriever } from './retriever.ts';
import { isEmptyQuery, retrieveNothing } from './retriever.ts';

const searching = searchingRetrieverNames.join(', ');

/**
 * Strategy `given`: returns the passages listed with each question, in that order, at most `topK`. It stands for a retrieval
 * made outside the bench, so its timings cover only the lookup of memories by id.
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
  /** Memories by user, then by id. */
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

  /** Looks up `options.passages`. @throws BenchError also `bad-option` if the question has no list */
  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    const { userId, topK, passages } = options;
    const nothing = retrieveNothing(this.name, options);
    if (isEmptyQuery(query)) return nothing;
    if (passages === undefined) {
      const message = 'retriever given: the question has no list of passages';
      throw new BenchError('bad-option', message, `list the ids of its memories, or use ${searching}`);
    }
    const start = performance.now();
    const own = this.#users.get(userId);
    const listed = [...new Set(passages)];
    const found = listed.flatMap((id) => own?.get(id) ?? []);
    const missing = listed.length - found.length;
    // The list has ranks but no scores: every score is 1.
    const memories = found.slice(0, topK).map(({ memoryId, content, metadata }) => {
      return { memoryId, content, score: 1, metadata: { ...metadata, ...(userId !== undefined && { userId }) } };
    });
    const reason = `${missing} of ${listed.length} listed memories are not stored`;
    return {
      ...nothing,
      memories,
      timingsMs: { embedding: 0, search: performance.now() - start, ranking: 0 },
      flags: missing === 0 ? [] : [{ flag: 'degraded', reason }],
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

/** Refuses strategy `given` where questions come from no data set. @throws BenchError `bad-option` */
export function requireSearchingRetriever(retriever: RetrieverName): void {
  if (retriever !== 'given') return;
  const message = '--retriever given: only items of a data set list passages, and this question is not one of them';
  throw new BenchError('bad-option', message, `choose one that searches: ${searching}`);
}
