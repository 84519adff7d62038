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
