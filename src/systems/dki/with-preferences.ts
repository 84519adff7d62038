import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import { isPreference } from '../prompt/placement.ts';
import type { Recall } from '../recall.ts';

/** All preferences of the user, whether they were recalled or not, and what else was recalled. */
export function withPreferences(
  recall: Recall,
  preferences: (userId: string) => readonly MemorySearchResult[],
): Recall {
  return {
    search: async (query, options) => {
      const { memories, elapsedMs, ...rest } = await recall.search(query, options);
      const start = performance.now();
      const all = [...preferences(options.userId ?? ''), ...memories.filter((memory) => !isPreference(memory))];
      return { ...rest, memories: all, elapsedMs: elapsedMs + performance.now() - start };
    },
  };
}
