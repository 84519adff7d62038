import type { MemorySearchResult } from '../memory/memory-search-result.ts';
import { chronological } from './prompt/placement.ts';
import { RAGSystem } from './rag/rag-system.ts';
import type { SystemParts } from './system-parts.ts';

/** Every memory of the user, as many of the newest as the budget takes, placed by creation. */
export function fullContext(parts: SystemParts, all: (userId: string) => readonly MemorySearchResult[]): RAGSystem {
  return new RAGSystem({
    ...parts,
    recall: {
      search: (_, { userId }) => {
        const start = performance.now();
        const memories = chronological(all(userId ?? '')).reverse();
        return Promise.resolve({ memories, elapsedMs: performance.now() - start });
      },
    },
    rules: { ...parts.rules, placement: 'chronological' },
    injectionMode: 'full-context',
  });
}
