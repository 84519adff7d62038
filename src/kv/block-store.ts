import { BenchError } from '../base/bench-error.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { BlockMemoryTier, fileBytes, type MemoryBlock } from './block-memory-tier.ts';
import type { OwnedKv } from './kv-record.ts';
import type { KvStore, KvStoreStats } from './kv-store.ts';
import type { RotatedKeyCache } from './rotated-key-cache.ts';

/** A block, and the tier that had it. */
export interface FoundBlock {
  /** The store's own: disposing of it does nothing. */
  readonly state: SequenceState;
  readonly tier: 'memory' | 'disk';
}

/** Counts since the store was opened, by tier. */
export interface BlockStoreStats {
  readonly memory: Readonly<ReturnType<BlockMemoryTier['stats']>>;
  readonly disk: KvStoreStats;
}

/**
 * When a block is written to disk: `at-once`, with the next `settle`, so that other processes find it; `when-evicted`
 * where the folder goes with this process, so that only blocks that no longer fit into memory are written.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

/**
 * Blocks of KV by content key in two tiers, memory and disk. Both are bounded by bytes, evict first what is cheap to
 * recompute and long unused, and never give one user the block of another.
 *
 * A turn finds and stores its blocks, and calls `settle` after its answer, so that no answer waits for a write. Until then
 * memory may exceed its bound by the blocks of the turn, which holds them in any case.
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
 *   block = blocks.keep({ userId: 'ann', key, tokens: line.length, memoryIds: ['memory-1'] }, cells);
 * }
 * // After the answer:
 * await blocks.settle();
 */
export class BlockStore implements Disposable {
  readonly #disk: KvStore;
  readonly #memory: BlockMemoryTier;
  readonly #timing: DiskTiming;
  /** Counts deletions of memories: a block that is being read meanwhile may contain one of them. */
  #forgotten = 0;

  /**
   * @param memoryBytes bound of the tier in memory, rotated keys included
   * @param type of the stored numbers on both tiers; quantised ones are dequantised each time they are found
   */
  constructor(store: KvStore, memoryBytes: number, timing: DiskTiming = 'at-once', type: StoreType = 'f16') {
    this.#disk = store;
    this.#memory = new BlockMemoryTier(memoryBytes, type);
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
      const state = this.#memory.putFile({ userId, key, tokens, memoryIds }, bytes, `KV block ${key}`);
      return { state, tier: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-state') throw error;
      await this.#disk.reject(userId, key);
      return undefined;
    }
  }

  /**
   * Stores a copy of a block, in memory until `settle` is called.
   * @returns the copy, dequantised where the store quantises; the given state can be disposed of
   */
  keep(about: OwnedKv, state: SequenceState): SequenceState {
    return this.#memory.put(about, state);
  }

  /** Writes the blocks that should be on disk by now, and evicts down to the bound in memory. @throws BenchError `disk` */
  async settle(): Promise<void> {
    if (this.#timing === 'at-once') for (const block of this.#memory.unwritten) await this.#write(block);
    for (let block = this.#memory.firstToGo; block !== undefined; block = this.#memory.firstToGo) {
      if (!block.onDisk) await this.#write(block);
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

  /** Frees the memory; the disk keeps its blocks. */
  [Symbol.dispose](): void {
    this.#forgotten++;
    this.#memory.clear();
  }

  /** Counts of both tiers since the store was opened. */
  stats(): BlockStoreStats {
    return { memory: this.#memory.stats(), disk: this.#disk.stats() };
  }

  async #write(block: MemoryBlock): Promise<void> {
    // It may have been forgotten since.
    if (!this.#memory.holds(block)) return;
    // Set before the write, so that a deletion meanwhile finds it on disk and counts it once.
    block.onDisk = true;
    try {
      await this.#disk.keepBlock(block, fileBytes(block));
    } catch (error) {
      block.onDisk = false;
      throw error;
    }
  }
}
