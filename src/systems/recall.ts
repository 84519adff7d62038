import type { MemorySearchResult } from '../memory/memory-search-result.ts';
import type { SearchOptions } from './contracts.ts';

/** Ranked memories, best first, and what finding them took. */
export interface Recalled {
  readonly memories: readonly MemorySearchResult[];
  readonly elapsedMs: number;
}

/** What to recall: a query in, ranked memories of one user out. */
export interface Recall {
  search(query: string, options: SearchOptions): Promise<Recalled>;
}

/** Recalls nothing. */
export const recallNothing: Recall = { search: () => Promise.resolve({ memories: [], elapsedMs: 0 }) };

/** Times a search. */
export async function timedRecall(search: () => Promise<readonly MemorySearchResult[]>): Promise<Recalled> {
  const start = performance.now();
  const memories = await search();
  return { memories, elapsedMs: performance.now() - start };
}
