import type { StoredMemory } from './memory-vector-index.ts';

interface UserIndex<Memory> {
  readonly size: number;
  add(memories: readonly Memory[]): void;
  remove(memoryId: string): boolean;
}

/** One index per user, under `undefined` for memories without a user; deleted with its last memory. */
export class UserIndexes<Memory extends StoredMemory, Index extends UserIndex<Memory>> extends Map<
  string | undefined,
  Index
> {
  addAll(memories: readonly Memory[], open: () => Index): void {
    for (const [userId, userMemories] of Map.groupBy(memories, (memory) => memory.userId)) {
      const index = this.get(userId) ?? open();
      index.add(userMemories);
      this.set(userId, index);
    }
  }

  remove(memoryId: string, userId: string | undefined): boolean {
    const index = this.get(userId);
    const removed = index?.remove(memoryId) ?? false;
    if (index?.size === 0) this.delete(userId);
    return removed;
  }

  get memoryCount(): number {
    return [...this.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
