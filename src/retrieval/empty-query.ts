import { checkSearch } from './search-options.ts';
import type { Retrieval, RetrieveOptions } from './retriever.ts';

/** True for a query of white space alone. */
export function isEmptyQuery(query: string): boolean {
  return query.trim() === '';
}

/**
 * The answer of every strategy to an empty query: nothing, without asking an embedder or a store.
 * @throws BenchError `bad-option` as for any query
 */
export function retrieveNothing(strategy: string, { topK, threshold }: RetrieveOptions): Retrieval {
  checkSearch(topK, threshold);
  return { strategy, memories: [], timingsMs: { embedding: 0, search: 0, ranking: 0 }, flags: [], details: {} };
}
