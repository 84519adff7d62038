import { BenchError } from '../base/bench-error.ts';
import { type SequenceState, kvBytes } from '../engine/sequence-state.ts';
import type { StoreType, QuantisedType } from '../store/records/prefill-record.ts';
import { BlockMemoryTier, type MemoryBlock, type BlockForm, type HeldBlock } from './block-memory-tier.ts';
import type { AboutKv, OwnedKv } from './kv-key.ts';
import type { KvStore, KvStoreStats } from './kv-disk-store.ts';
import { RotatedKeyCache } from './rotated-key-cache.ts';
import { ArenaCells, deletedDuringTurn } from './arena-cells.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';

/** Share of the memory for rotated keys, which are half as large as their block. */
const ROTATED_SHARE = 1 / 3;

/** A block, and the tier in which it was found. */
export interface FoundBlock<State> {
  /** Owned by the store: disposing of it does nothing. */
  readonly state: State;
  readonly tier: 'memory' | 'disk';
}

/** Counts since the store was opened, by tier. */
export interface BlockStoreStats {
  readonly memory: ReturnType<BlockMemoryTier<never, never>['stats']> & { readonly rotatedBytes: number };
  readonly disk: KvStoreStats;
}

/** Where a block store keeps blocks that do not fit into memory: a `KvStore`, or a simulated one. */
export interface BlockDisk<File> extends Pick<
  KvStore,
  'reject' | 'discard' | 'countRejected' | 'forgetMemory' | 'clear' | 'stats'
> {
  /** Finds a block; undefined if it has none, or a damaged one. */
  findBlock(userId: string, key: string): Promise<(AboutKv & { readonly bytes: File }) | undefined>;
  /** Stores a block, then evicts down to the bound. */
  keepBlock(about: OwnedKv, bytes: File): Promise<void>;
}

/**
 * When blocks are written to disk. `at-once`: at the next `settle`, so that other processes find them. `when-evicted`: when
 * they no longer fit into memory, which is enough if no other process uses the folder.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

/**
 * KV blocks by content key in two tiers, memory and disk. Both have a bound in bytes, evict first what is cheap to recompute
 * and long unused, and never give one user's block to another user.
 *
 * A turn finds and stores blocks, and calls `settle` after its answer, so that no answer waits for a write. Until then memory
 * may exceed its bound by the blocks of the turn.
 *
 * @example
 * declare const store: KvStore;
 * declare const session: EngineSession;
 * declare const key: string;
 * declare const header: readonly number[];
 * declare const line: readonly number[];
 * using blocks = openBlockStore(store, 2 ** 28);
 * let block = (await blocks.find('ann', key))?.state;
 * if (block === undefined) {
 *   await session.evaluate([...header, ...line]);
 *   using cells = await session.exportCells({ start: header.length, end: header.length + line.length });
 *   block = blocks.keep({ userId: 'ann', key, tokens: line.length, memoryIds: ['memory-1'] }, cells);
 * }
 * // After the answer:
 * await blocks.settle();
 */
export class BlockStore<State = SequenceState, File = Uint8Array<ArrayBuffer>> implements Disposable {
  /** Rotated keys of the blocks in memory; deleted together with their block. */
  readonly rotated: RotatedKeyCache;
  readonly #disk: BlockDisk<File>;
  readonly #memory: BlockMemoryTier<State, File>;
  readonly #timing: DiskTiming;
  /** Number of deletions. If it changes while a block is read from disk, the block may contain a deleted memory. */
  #forgotten = 0;

  constructor(
    disk: BlockDisk<File>,
    memory: BlockMemoryTier<State, File>,
    timing: DiskTiming,
    rotated = new RotatedKeyCache(0),
  ) {
    this.#disk = disk;
    this.#memory = memory;
    this.#timing = timing;
    this.rotated = rotated;
  }

  /** Finds a block, and loads it into memory if it is on disk. @throws BenchError `disk` */
  async find(userId: string, key: string): Promise<FoundBlock<State> | undefined> {
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
   * Stores a copy of a block, only in memory until `settle` is called.
   * @returns the copy, with quantisation losses if the store quantises; the given state may be disposed of
   */
  keep(about: OwnedKv, state: State): State {
    return this.#memory.put(about, state);
  }

  /** Writes blocks that are due to disk, and evicts from memory down to its bound. @throws BenchError `disk` */
  async settle(): Promise<void> {
    if (this.#timing === 'at-once') for (const block of this.#memory.unwritten) await this.#write(block);
    for (let block = this.#memory.nextToEvict; block !== undefined; block = this.#memory.nextToEvict) {
      if (!block.onDisk) await this.#write(block);
      this.#memory.evict(block);
    }
  }

  /** Deletes a block that turned out unusable from both tiers; counts it as rejected. */
  async reject(userId: string, key: string): Promise<void> {
    if (!this.#memory.reject(userId, key)) return this.#disk.reject(userId, key);
    this.#disk.countRejected();
    await this.#disk.discard(userId, key);
  }

  /** As `KvStore.countRejected`. */
  countRejected(): void {
    this.#disk.countRejected();
  }

  /** Deletes the user's blocks and checkpoints that contain the memory from both tiers. @returns their number */
  async forgetMemory(userId: string, memoryId: string): Promise<number> {
    this.#forgotten++;
    const inMemoryAlone = this.#memory.forget(userId, memoryId);
    const count = await this.#disk.forgetMemory(userId, memoryId);
    // Once more, for blocks that were loaded from disk in the meantime.
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

  /** Frees the memory; blocks on disk stay. */
  [Symbol.dispose](): void {
    this.#forgotten++;
    this.#memory.clear();
    this.rotated.clear();
  }

  /** Counts of both tiers since the store was opened. */
  stats(): BlockStoreStats {
    const memory = { ...this.#memory.stats(), rotatedBytes: this.rotated.sizeBytes };
    return { memory, disk: this.#disk.stats() };
  }

  async #write(block: MemoryBlock<State, File>): Promise<void> {
    // It may have been deleted since.
    if (!this.#memory.holds(block)) return;
    // Set before the write, so that a deletion during the write counts the block once, as one on disk.
    block.onDisk = true;
    try {
      await this.#disk.keepBlock(block, block.held.file());
    } catch (error) {
      block.onDisk = false;
      throw error;
    }
  }
}

/** Bytes of the blocks, and of their rotated keys, in a memory tier. */
export function shareMemory(memoryBytes: number): Readonly<Record<'blocks' | 'rotated', number>> {
  const rotated = Math.floor(memoryBytes * ROTATED_SHARE);
  return { blocks: memoryBytes - rotated, rotated };
}

/**
 * Opens a store of blocks in memory and on disk.
 * @param memoryBytes bound of the memory tier, including rotated keys
 * @param type number type on both tiers; quantised blocks are dequantised each time they are found
 */
export function openBlockStore(
  disk: KvStore,
  memoryBytes: number,
  timing: DiskTiming = 'at-once',
  type: StoreType = 'f16',
): BlockStore {
  // A quantised block is dequantised for each turn, so that its rotated keys are never found again.
  const share = type === 'f16' ? shareMemory(memoryBytes) : { blocks: memoryBytes, rotated: 0 };
  const rotated = new RotatedKeyCache(share.rotated);
  const memory = new BlockMemoryTier(share.blocks, type === 'f16' ? arenaBlocks(rotated) : quantisedBlocks(type));
  return new BlockStore<SequenceState, Uint8Array<ArrayBuffer>>(disk, memory, timing, rotated);
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Holds blocks in the arena, as they were evaluated. @param rotated loses the keys of a block that leaves */
function arenaBlocks(rotated: RotatedKeyCache): BlockForm<SequenceState, Bytes> {
  const held = (cells: ArenaCells): HeldBlock<SequenceState, Bytes> => {
    const leave = (how: 'moveOut' | 'erase') => (): void => {
      rotated.forget(cells);
      cells[how]();
    };
    const file = () => writeBlockFile(cells);
    return { sizeBytes: kvBytes(cells), read: () => cells, file, moveOut: leave('moveOut'), erase: leave('erase') };
  };
  return {
    hold: (state) => held(new ArenaCells(state)),
    holdFile: (bytes, name) => {
      const cells = new ArenaCells(readBlockFile(bytes, name));
      return { block: held(cells), state: cells };
    },
  };
}

/** Holds quantised blocks outside the arena; each read returns a dequantised copy. */
function quantisedBlocks(type: QuantisedType): BlockForm<SequenceState, Bytes> {
  const held = (owned: Bytes): HeldBlock<SequenceState, Bytes> => {
    let bytes: Bytes | undefined = owned;
    const file = (): Bytes => {
      if (bytes === undefined) throw deletedDuringTurn();
      return bytes;
    };
    const erase = (): void => {
      bytes?.fill(0);
      bytes = undefined;
    };
    // Turns have copies, so there is nothing to move out for them.
    return { sizeBytes: owned.length, read: () => readQuantised(file()), file, moveOut: () => undefined, erase };
  };
  return {
    hold: (state) => held(writeQuantised(state, type)),
    holdFile: (bytes, name) => {
      const state = readQuantised(bytes, name);
      return { block: held(bytes.slice()), state };
    },
  };
}
