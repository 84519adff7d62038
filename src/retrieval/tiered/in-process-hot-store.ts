import type { HotShelf, HotStore } from './hot-store.ts';
import type { MemoryRecord } from './memory-record.ts';

/** Hot store in the memory of this process; it ends with the process. */
export class InProcessHotStore implements HotStore {
  readonly name = 'in-process';
  readonly version = '1';
  /** Records by id, by shelf and group. */
  readonly #shelves = new Map<string, Map<string, MemoryRecord>>();

  async put(group: string, shelves: readonly HotShelf[], records: readonly MemoryRecord[]): Promise<void> {
    for (const shelf of shelves) {
      const stored = this.#records(group, shelf);
      for (const record of records) stored.set(record.memoryId, record);
      this.#shelves.set(`${shelf}:${group}`, stored);
    }
  }

  async newest(group: string, shelf: HotShelf, count: number, untilMs: number): Promise<MemoryRecord[]> {
    const records = (await this.oldest(group, shelf, Infinity)).filter(({ createdAtMs }) => createdAtMs <= untilMs);
    return records.reverse().slice(0, count);
  }

  async oldest(group: string, shelf: HotShelf, count: number): Promise<MemoryRecord[]> {
    const byAge = (a: MemoryRecord, b: MemoryRecord): number =>
      a.createdAtMs - b.createdAtMs || Buffer.compare(Buffer.from(a.memoryId), Buffer.from(b.memoryId));
    return [...this.#records(group, shelf).values()].sort(byAge).slice(0, count);
  }

  async remove(group: string, shelves: readonly HotShelf[], memoryIds: readonly string[]): Promise<number> {
    const stored = shelves.map((shelf) => this.#records(group, shelf));
    return memoryIds.filter((id) => stored.map((records) => records.delete(id)).includes(true)).length;
  }

  async drop(): Promise<void> {
    this.#shelves.clear();
  }

  async close(): Promise<void> {
    this.#shelves.clear();
  }

  #records(group: string, shelf: HotShelf): Map<string, MemoryRecord> {
    return this.#shelves.get(`${shelf}:${group}`) ?? new Map<string, MemoryRecord>();
  }
}
