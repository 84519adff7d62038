import type { MemorySearchResult } from '../../memory/memory-search-result.ts';

/** The order in which selected memories stand: as ranked (seed 004), or by creation, then id. */
export type Placement = 'rank' | 'chronological';

function createdAt(memory: MemorySearchResult): string {
  const value = memory.metadata['createdAt'];
  return typeof value === 'string' ? value : '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A copy in order of creation, then id. */
export function chronological(memories: readonly MemorySearchResult[]): MemorySearchResult[] {
  return [...memories].sort((a, b) => compare(createdAt(a), createdAt(b)) || compare(a.memoryId, b.memoryId));
}

/** The selected memories, given in rank order, as they will stand in the sequence. */
export function placed(memories: readonly MemorySearchResult[], placement: Placement): readonly MemorySearchResult[] {
  return placement === 'rank' ? memories : chronological(memories);
}
