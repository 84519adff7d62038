import type { HotShelf, HotStore } from './hot-store.ts';
import type { MemoryRecord } from './memory-record.ts';

/** Short-term memory in this process; it ends with the process. */
export class InProcessHotStore implements HotStore {
  readonly name = 'in-process';
  readonly version = '1';
  readonly #shelves = new Map<string, Shelf>();

  async put(group: string, shelves: readonly HotShelf[], records: readonly MemoryRecord[]): Promise<void> {
    for (const shelf of shelves) {
      const key = shelfKey(group, shelf);
      let found = this.#shelves.get(key);
      if (found === undefined) this.#shelves.set(key, (found = new Shelf()));
      found.put(records);
    }
  }

  async newest(group: string, shelf: HotShelf, count: number, untilMs: number): Promise<MemoryRecord[]> {
    const records = this.#shelves.get(shelfKey(group, shelf))?.sorted() ?? [];
    let end = records.length;
    while (end > 0 && records[end - 1]!.createdAtMs > untilMs) end--;
    return records.slice(Math.max(0, end - count), end).reverse();
  }

  async oldest(group: string, shelf: HotShelf, count: number): Promise<MemoryRecord[]> {
    return (this.#shelves.get(shelfKey(group, shelf))?.sorted() ?? []).slice(0, count);
  }

  async remove(group: string, shelves: readonly HotShelf[], memoryIds: readonly string[]): Promise<number> {
    const found = shelves.flatMap((shelf) => this.#shelves.get(shelfKey(group, shelf)) ?? []);
    return memoryIds.filter((id) => found.map((shelf) => shelf.remove(id)).includes(true)).length;
  }

  async drop(): Promise<void> {
    this.#shelves.clear();
  }

  /** Drops all shelves: they live as long as the process. */
  async close(): Promise<void> {
    this.#shelves.clear();
  }
}

function shelfKey(group: string, shelf: HotShelf): string {
  return `${shelf}:${group}`;
}

/** Records by id, sorted on demand. */
class Shelf {
  readonly #records = new Map<string, MemoryRecord>();
  #sorted: MemoryRecord[] | undefined;

  put(records: readonly MemoryRecord[]): void {
    for (const record of records) this.#records.set(record.memoryId, record);
    this.#sorted = undefined;
  }

  remove(memoryId: string): boolean {
    const removed = this.#records.delete(memoryId);
    if (removed) this.#sorted = undefined;
    return removed;
  }

  /** Lists the records, oldest first. */
  sorted(): readonly MemoryRecord[] {
    this.#sorted ??= [...this.#records.values()].sort(
      (a, b) => a.createdAtMs - b.createdAtMs || Buffer.compare(Buffer.from(a.memoryId), Buffer.from(b.memoryId)),
    );
    return this.#sorted;
  }
}
