import type { DatasetItem, DatasetMemory, DatasetUser } from './dataset.ts';

/** The memories that exist when the item is asked: none that was created later. */
export function visibleMemories(user: DatasetUser, item: Pick<DatasetItem, 'askedAt'>): readonly DatasetMemory[] {
  const now = Date.parse(item.askedAt);
  return user.memories.filter((memory) => Date.parse(memory.createdAt) <= now);
}
