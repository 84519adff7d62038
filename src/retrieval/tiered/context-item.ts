import type { MemorySearchResult } from '../memory-search-result.ts';

/**
 * One retrieved record: of working memory, or a chunk of long-term memory. Its score is 1 for working memory, 1 − cosine
 * distance for long-term memory.
 */
export interface ContextItem extends MemorySearchResult {
  readonly tier: 'hot' | 'cold';
}
