import type { DatasetMemory, DatasetUser, DatasetItem } from './dataset.ts';

type Dated = Pick<DatasetMemory, 'createdAt' | 'memoryId'>;

export function byAge(a: Dated, b: Dated): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.memoryId < b.memoryId ? -1 : 1);
}

/** Memories to remove from an index and to add to it, so that it holds exactly the visible ones. */
export function indexChanges<Memory extends Pick<DatasetMemory, 'memoryId'>>(
  indexed: ReadonlySet<string>,
  visible: readonly Memory[],
) {
  const wanted = new Set(visible.map(({ memoryId }) => memoryId));
  return {
    removed: [...indexed].filter((memoryId) => !wanted.has(memoryId)),
    added: visible.filter(({ memoryId }) => !indexed.has(memoryId)),
  };
}

/** Memories that a user already had at the time of a question. */
export function visibleMemories(user: Pick<DatasetUser, 'memories'>, item: Pick<DatasetItem, 'askedAt'>) {
  const now = Date.parse(item.askedAt);
  return user.memories.filter((memory) => Date.parse(memory.createdAt) <= now);
}
