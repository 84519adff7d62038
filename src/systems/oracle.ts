import type { MemorySearchResult } from '../memory/memory-search-result.ts';
import { RAGSystem } from './rag/rag-system.ts';
import type { SystemParts } from './system-parts.ts';

/** The upper bound of recall: the evidence memories and no others, placed by creation. */
export function oracle(parts: SystemParts, evidence: () => readonly MemorySearchResult[]): RAGSystem {
  return new RAGSystem({
    ...parts,
    recall: { search: () => Promise.resolve({ memories: evidence(), elapsedMs: 0 }) },
    rules: { ...parts.rules, placement: 'chronological' },
    injectionMode: 'oracle',
  });
}
