import type { MemoryRecord } from './memory-record.ts';

/**
 * Shelves of a hot store: `quarantine`, which no search reads; `working` memory, whose newest records every search
 * returns; and `waiting`, the records that are to be promoted to long-term memory.
 */
export type HotShelf = 'quarantine' | 'working' | 'waiting';

/**
 * Port to the store of new records, in groups and on shelves. A group is a UUID (`deriveUuid`); ids of records are unique within
 * group and shelf. Repeating a failed call has the effect of one call. Adapters: `InProcessHotStore`, `RedisHotStore`.
 *
 * All methods throw BenchError `database` if the store cannot be reached, or does not answer in time.
 *
 * @example
 * ```ts
 * import { InProcessHotStore, type HotStore } from 'dki-bench';
 *
 * const store: HotStore = new InProcessHotStore();
 * const group = '6f0c5d1e-9a52-4d0e-8a3b-0c1d2e3f4a5b';
 * const record = { memoryId: 'm1', content: 'I moved to Leeds.', metadata: {}, createdAtMs: Date.now() };
 * await store.put(group, ['working'], [record]);
 * const [newest] = await store.newest(group, 'working', 10, Date.now());
 * console.log(newest?.content);
 * ```
 */
export interface HotStore {
  /** Kind of the store, for the run's record: `in-process`, `redis`. */
  readonly name: string;
  readonly version: string;
  /** Puts records on all given shelves; one with a known id is replaced. */
  put(group: string, shelves: readonly HotShelf[], records: readonly MemoryRecord[]): Promise<void>;
  /** Returns the newest records up to the time `untilMs`, newest first; of equal times, the greater id (by UTF-8) first. */
  newest(group: string, shelf: HotShelf, count: number, untilMs: number): Promise<MemoryRecord[]>;
  /** Returns the oldest records, oldest first; of equal times, the smaller id first. */
  oldest(group: string, shelf: HotShelf, count: number): Promise<MemoryRecord[]>;
  /** Removes records from the given shelves. @returns how many of the ids were on any of them */
  remove(group: string, shelves: readonly HotShelf[], memoryIds: readonly string[]): Promise<number>;
  /** Removes everything in the store's namespace. */
  drop(): Promise<void>;
  /** Closes the connection; a server keeps the data. */
  close(): Promise<void>;
}

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
