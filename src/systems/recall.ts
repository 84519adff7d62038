import type { MemorySearchResult } from '../memory/memory-search-result.ts';
import type { Retrieval, RetrieveOptions } from '../memory/retriever.ts';

/** Ranked memories, best first, and what finding them took. */
export interface Recalled {
  readonly memories: readonly MemorySearchResult[];
  readonly elapsedMs: number;
  /** How a retriever found them; none where no retriever was asked. */
  readonly retrieval?: RetrievalRecord;
}

/** A retrieval without its memories: what is stored of it with the turn. */
export type RetrievalRecord = Omit<Retrieval, 'memories'>;

/** What to recall: a query in, ranked memories of one user out. */
export interface Recall {
  search(query: string, options: RetrieveOptions): Promise<Recalled>;
}

/** Recalls nothing. */
export const recallNothing: Recall = { search: () => Promise.resolve({ memories: [], elapsedMs: 0 }) };

/** Times a retrieval. */
export async function timedRecall(retrieve: () => Promise<Retrieval>): Promise<Recalled> {
  const start = performance.now();
  const { memories, ...retrieval } = await retrieve();
  return { memories, elapsedMs: performance.now() - start, retrieval };
}
