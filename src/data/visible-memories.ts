import type { DatasetMemory, DatasetUser, DatasetItem } from './dataset.ts';

export function byAge(
  a: Pick<DatasetMemory, 'createdAt' | 'memoryId'>,
  b: Pick<DatasetMemory, 'createdAt' | 'memoryId'>,
): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.memoryId < b.memoryId ? -1 : 1);
}

/** Memories that must leave an index and enter it, so that it holds the memories that are visible. */
export function indexChanges<Memory extends Pick<DatasetMemory, 'memoryId'>>(
  indexed: ReadonlySet<string>,
  visible: readonly Memory[],
): { readonly removed: readonly string[]; readonly added: readonly Memory[] } {
  const wanted = new Set(visible.map(({ memoryId }) => memoryId));
  return {
    removed: [...indexed].filter((memoryId) => !wanted.has(memoryId)),
    added: visible.filter(({ memoryId }) => !indexed.has(memoryId)),
  };
}

/** Lists the memories of a user that exist when an item is asked: none that was created later. */
export function visibleMemories(user: DatasetUser, item: Pick<DatasetItem, 'askedAt'>): readonly DatasetMemory[] {
  const now = Date.parse(item.askedAt);
  return user.memories.filter((memory) => Date.parse(memory.createdAt) <= now);
}
