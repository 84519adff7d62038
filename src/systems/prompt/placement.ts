import type { MemorySearchResult } from '../../retrieval/retriever.ts';

/** The order of the selected memories in the sequence: as ranked, the best last, or by creation, then id. */
export type Placement = 'rank' | 'rank-last' | 'chronological';

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

/** The memories that form the prefix, which can be injected: all, or the user's preferences. */
export type PrefixMemories = 'all' | 'preferences';

/** True for a memory that was added as a preference. */
export function isPreference({
  metadata,
}: {
  readonly metadata?: MemorySearchResult['metadata'] | undefined;
}): boolean {
  return metadata?.['preference'] === true;
}

function inOrderOf(memories: readonly MemorySearchResult[], placement: Placement): readonly MemorySearchResult[] {
  if (placement === 'chronological') return chronological(memories);
  return placement === 'rank' ? memories : [...memories].reverse();
}

/** Orders the selected memories, given in rank order, as they will stand in the sequence: preferences first where they alone are the prefix. */
export function placed(
  memories: readonly MemorySearchResult[],
  placement: Placement,
  prefix: PrefixMemories = 'all',
): readonly MemorySearchResult[] {
  const inOrder = inOrderOf(memories, placement);
  if (prefix === 'all') return inOrder;
  return [...inOrder.filter(isPreference), ...inOrder.filter((memory) => !isPreference(memory))];
}
