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

/** Which memories stand in front, where K/V can be injected: all, or those that are preferences of the user. */
export type PrefixMemories = 'all' | 'preferences';

/** Whether a memory was added as a preference. */
export function isPreference(memory: MemorySearchResult): boolean {
  return memory.metadata['preference'] === true;
}

/** The selected memories, given in rank order, as they will stand in the sequence: preferences first where they alone are the prefix. */
export function placed(
  memories: readonly MemorySearchResult[],
  placement: Placement,
  prefix: PrefixMemories = 'all',
): readonly MemorySearchResult[] {
  const inOrder = placement === 'rank' ? memories : chronological(memories);
  if (prefix === 'all') return inOrder;
  return [...inOrder.filter(isPreference), ...inOrder.filter((memory) => !isPreference(memory))];
}
