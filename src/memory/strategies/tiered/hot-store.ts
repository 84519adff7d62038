import type { MemoryRecord } from './memory-record.ts';

/**
 * Where a record lies before long-term memory: in `quarantine`, unseen by any search; in `working` memory, whose newest
 * ones every search returns; and, besides, `waiting` to be promoted.
 */
export type HotShelf = 'quarantine' | 'working' | 'waiting';

/**
 * Short-term memory by group. A group is a UUID (`uuidOf`); a record is one by its id within its group and shelf.
 * Every method may be called again after it failed, with the result of one call that succeeded.
 *
 * All throw BenchError `database` where the store cannot be reached, or does not answer in time.
 */
export interface HotStore {
  /** What it is, for the run's record: `in-process`, `redis`. */
  readonly name: string;
  readonly version: string;
  /** Puts records on all of those shelves; one whose id is there is replaced. */
  put(group: string, shelves: readonly HotShelf[], records: readonly MemoryRecord[]): Promise<void>;
  /** The newest records not younger than `untilMs`, the newest first; of one time the greater id (by UTF-8) first. */
  newest(group: string, shelf: HotShelf, count: number, untilMs: number): Promise<MemoryRecord[]>;
  /** The oldest records, the oldest first; of one time the smaller id first. */
  oldest(group: string, shelf: HotShelf, count: number): Promise<MemoryRecord[]>;
  /** Takes records off those shelves; how many of the ids were on any. */
  remove(group: string, shelves: readonly HotShelf[], memoryIds: readonly string[]): Promise<number>;
  /** Removes all that the store's namespace holds. */
  drop(): Promise<void>;
  close(): Promise<void>;
}
