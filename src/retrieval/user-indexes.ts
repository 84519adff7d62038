import type { StoredMemory } from './memory-vector-index.ts';

/** The memories of one user in a strategy's own form. */
interface UserIndex<Memory> {
  readonly size: number;
  add(memories: readonly Memory[]): void;
  remove(memoryId: string): boolean;
}

/** Indexes by user, `undefined` for memories without one; an index exists as long as it has memories. */
export class UserIndexes<Memory extends StoredMemory, Index extends UserIndex<Memory>> extends Map<
  string | undefined,
  Index
> {
  addAll(memories: readonly Memory[], open: () => Index): void {
    for (const [userId, own] of Map.groupBy(memories, (memory) => memory.userId)) {
      const index = this.get(userId) ?? open();
      index.add(own);
      this.set(userId, index);
    }
  }

  remove(memoryId: string, userId: string | undefined): boolean {
    const index = this.get(userId);
    const removed = index?.remove(memoryId) ?? false;
    if (index?.size === 0) this.delete(userId);
    return removed;
  }

  get memories(): number {
    return [...this.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
