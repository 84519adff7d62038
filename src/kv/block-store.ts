import { BenchError } from '../base/bench-error.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { BlockMemory, type BlockMemoryStats, fileOf, type KeptBlock } from './block-memory.ts';
import type { KvStore, KvStoreStats } from './kv-store.ts';
import type { RotatedKeyCache } from './rotated-key-cache.ts';

/** A block, and which tier had it. */
export interface FoundBlock {
  /** The store's own: disposing of it does nothing. */
  readonly state: SequenceState;
  readonly tier: 'memory' | 'disk';
}

/** Counts since the store was opened, by tier. */
export interface BlockStoreStats {
  readonly memory: BlockMemoryStats;
  readonly disk: KvStoreStats;
}

/**
 * The time at which a block reaches the disk: `at-once`, with the next `settle`, where other processes shall find it;
 * `when-evicted` where the folder goes with this process, so that a file is written for what no longer fits into memory alone.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

/**
 * Blocks of KV by content key in two tiers: in memory, and behind it on disk. Both are bounded by bytes, give up first
 * what is cheap to recompute and long unused, and never show one user the block of another.
 *
 * A turn finds and keeps its blocks, and settles the store when its answer is there: nobody who waits for an answer waits
 * for a write. Until then memory may exceed its bound by the blocks of the turn, which holds them in any case.
 *
 * @example
 * declare const store: KvStore;
 * declare const session: EngineSession;
 * declare const key: string;
 * declare const header: readonly number[];
 * declare const line: readonly number[];
 * using blocks = new BlockStore(store, 2 ** 28);
 * let block = (await blocks.find('ann', key))?.state;
 * if (block === undefined) {
 *   await session.evaluate([...header, ...line]);
 *   using cells = await session.exportCells({ start: header.length, end: header.length + line.length });
 *   block = blocks.keep('ann', key, line.length, ['memory-1'], cells);
 * }
 * // Behind the answer:
 * await blocks.settle();
 */
export class BlockStore implements Disposable {
  readonly #disk: KvStore;
  readonly #memory: BlockMemory;
  readonly #timing: DiskTiming;
  /** Counts deletions of memories: a block that is on its way meanwhile may contain one of them. */
  #forgotten = 0;

  /**
   * @param memoryBytes bound of the tier in memory, rotated keys included
   * @param type of the numbers in which blocks are kept on both tiers; quantised ones are restored each time they are found
   */
  constructor(store: KvStore, memoryBytes: number, timing: DiskTiming = 'at-once', type: StoreType = 'f16') {
    this.#disk = store;
    this.#memory = new BlockMemory(memoryBytes, type);
    this.#timing = timing;
  }

  /** Rotated keys of the blocks in memory; they go with their block. */
  get rotated(): RotatedKeyCache {
    return this.#memory.rotated;
  }

  /** The block of that key; one that was found on disk is in memory from then on. @throws BenchError `disk` */
  async find(userId: string, key: string): Promise<FoundBlock | undefined> {
    const inMemory = this.#memory.find(userId, key);
    if (inMemory !== undefined) return { state: inMemory, tier: 'memory' };
    const forgotten = this.#forgotten;
    const stored = await this.#disk.findBlock(userId, key);
    if (stored === undefined) return undefined;
    if (forgotten !== this.#forgotten) return this.find(userId, key);
    const { bytes, tokens, memoryIds } = stored;
    try {
      const block = { userId, key, tokens, memoryIds, onDisk: true };
      return { state: this.#memory.keepFile(block, bytes, `KV block ${key}`), tier: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-state') throw error;
      await this.#disk.reject(userId, key);
      return undefined;
    }
  }

  /**
   * Keeps a copy of a block, in memory until `settle` is called.
   * @param tokens tokens that it took to compute it @param memoryIds the memories that it contains, for forgetting
   * @returns the copy, of quantised numbers what they stand for; the state that was given can be disposed of
   */
  keep(userId: string, key: string, tokens: number, memoryIds: readonly string[], state: SequenceState): SequenceState {
    return this.#memory.keep({ userId, key, tokens, memoryIds: [...memoryIds], onDisk: false }, state);
  }

  /** Writes the blocks that should be on disk by now, and evicts down to the bound in memory. @throws BenchError `disk` */
  async settle(): Promise<void> {
    if (this.#timing === 'at-once') for (const block of this.#memory.unwritten) await this.#writeDown(block);
    for (let block = this.#memory.firstToGo; block !== undefined; block = this.#memory.firstToGo) {
      if (!block.onDisk) await this.#writeDown(block);
      this.#memory.evict(block);
    }
  }

  /** Deletes a block that was found and could not be used, on both tiers; it counts as rejected. */
  async reject(userId: string, key: string): Promise<void> {
    if (!this.#memory.reject(userId, key)) return this.#disk.reject(userId, key);
    this.#disk.countRejected();
    await this.#disk.discard(userId, key);
  }

  /** As `KvStore.countRejected`. */
  countRejected(): void {
    this.#disk.countRejected();
  }

  /** Deletes every block and checkpoint of the user that contains the memory, on both tiers, before it returns. */
  async forgetMemory(userId: string, memoryId: string): Promise<number> {
    this.#forgotten++;
    const inMemoryAlone = this.#memory.forget(userId, memoryId);
    const count = await this.#disk.forgetMemory(userId, memoryId);
    // Those that were found on disk meanwhile.
    this.#forgotten++;
    this.#memory.forget(userId, memoryId);
    return inMemoryAlone + count;
  }

  /** Deletes everything on both tiers. */
  async clear(): Promise<void> {
    this[Symbol.dispose]();
    await this.#disk.clear();
    this[Symbol.dispose]();
  }

  /** Gives all memory back; what is on disk stays. */
  [Symbol.dispose](): void {
    this.#forgotten++;
    this.#memory.clear();
  }

  /** Counts of both tiers since the store was opened. */
  stats(): BlockStoreStats {
    return { memory: this.#memory.stats(), disk: this.#disk.stats() };
  }

  /** Does nothing for a block that was forgotten since. */
  async #writeDown(block: KeptBlock): Promise<void> {
    if (!this.#memory.holds(block)) return;
    const { userId, key, tokens, memoryIds } = block;
    // From the first moment on: whoever forgets it while it is written finds it on disk, and counts it once.
    this.#memory.note(block, true);
    try {
      await this.#disk.keepBlock(userId, key, tokens, memoryIds, fileOf(block));
    } catch (error) {
      this.#memory.note(block, false);
      throw error;
    }
  }
}
