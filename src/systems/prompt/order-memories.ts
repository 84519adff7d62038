import type { MemorySearchResult } from '../../retrieval/retriever.ts';

/** The order of the selected memories in the sequence: as ranked, the best last, or by creation, then id. */
export type Placement = 'rank' | 'rank-last' | 'chronological';

/** The memories that form the prefix, which can be injected: all, or the user's preferences. */
export type PrefixMemories = 'all' | 'preferences';

/** True for a memory that was added as a preference. */
export function isPreference(memory: { readonly metadata?: MemorySearchResult['metadata'] | undefined }): boolean {
  return memory.metadata?.['preference'] === true;
}

export function chronological(memories: readonly MemorySearchResult[]): MemorySearchResult[] {
  const createdAt = ({ metadata }: MemorySearchResult): string => {
    const value = metadata['createdAt'];
    return typeof value === 'string' ? value : '';
  };
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return memories.toSorted((a, b) => compare(createdAt(a), createdAt(b)) || compare(a.memoryId, b.memoryId));
}

/** Orders the selected memories, given in rank order, as they will appear in the sequence: preferences first if only they form the prefix. */
export function placed(memories: readonly MemorySearchResult[], placement: Placement, prefix: PrefixMemories = 'all') {
  const ranked = placement === 'rank' ? memories : memories.toReversed();
  const ordered = placement === 'chronological' ? chronological(memories) : ranked;
  if (prefix === 'all') return ordered;
  return [...ordered.filter(isPreference), ...ordered.filter((memory) => !isPreference(memory))];
}
