import { BenchError } from '../base/bench-error.ts';
import { type SequenceState, kvBytes } from '../engine/sequence-state.ts';
import type { StoreType, QuantisedType } from '../store/records/prefill-record.ts';
import { BoundedEntries, type EvictionPolicy, type SizedEntry } from './eviction-queue.ts';
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
  readonly memory: Readonly<Record<'hits' | 'evicted' | 'entries' | 'sizeBytes' | 'maxBytes' | 'rotatedBytes', number>>;
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

/** A block as memory holds it. */
export interface HeldBlock<State, File> {
  readonly sizeBytes: number;
  /** Its cells, which the caller does not own. @throws BenchError `not-found` after `erase` */
  read(): State;
  /** What is written to disk. @throws BenchError `not-found` after `erase` */
  file(): File;
  /** Called when it is evicted: running turns can still read its cells. */
  moveOut(): void;
  /** Called when it is deleted. */
  erase(): void;
}

/** How blocks are held in memory. */
export interface BlockForm<State, File> {
  /** Holds a copy of the cells. */
  hold(state: State): HeldBlock<State, File>;
  /** Holds a block from its file. @param name of the block, for messages @throws BenchError `bad-state` */
  holdFile(file: File, name: string): { readonly block: HeldBlock<State, File>; readonly state: State };
}

/** A stored block, and what was known when it was stored. */
interface MemoryBlock<State, File> extends OwnedKv, SizedEntry {
  readonly held: HeldBlock<State, File>;
  onDisk: boolean;
  /** True once a turn has found it in memory, rather than stored it or loaded it from disk. */
  isHit: boolean;
}

/**
 * When blocks are written to disk. `at-once`: at the next `settle`, so that other processes find them. `when-evicted`: when
 * they no longer fit into memory, which is enough if no other process uses the folder.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

interface BlockStoreOptions {
  /** Bound of the blocks in memory. */
  readonly maxBytes: number;
  readonly policy?: EvictionPolicy | undefined;
  readonly timing: DiskTiming;
  readonly rotated?: RotatedKeyCache;
}

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
  readonly #form: BlockForm<State, File>;
  readonly #blocks: BoundedEntries<MemoryBlock<State, File>>;
  readonly #timing: DiskTiming;
  #hits = 0;
  /** Number of deletions. If it changes while a block is read from disk, the block may contain a deleted memory. */
  #forgotten = 0;

  constructor(disk: BlockDisk<File>, form: BlockForm<State, File>, options: BlockStoreOptions) {
    const { maxBytes, policy, timing, rotated = new RotatedKeyCache(0) } = options;
    this.#disk = disk;
    this.#form = form;
    this.#blocks = new BoundedEntries(maxBytes, policy);
    this.#timing = timing;
    this.rotated = rotated;
  }

  /** Finds a block, and loads it into memory if it is on disk. @throws BenchError `disk` */
  async find(userId: string, key: string): Promise<FoundBlock<State> | undefined> {
    const inMemory = this.#blocks.get(blockId({ userId, key }));
    if (inMemory !== undefined) {
      this.#hits++;
      inMemory.isHit = true;
      this.#blocks.use(inMemory);
      return { state: inMemory.held.read(), tier: 'memory' };
    }
    const forgotten = this.#forgotten;
    const stored = await this.#disk.findBlock(userId, key);
    if (stored === undefined) return undefined;
    if (forgotten !== this.#forgotten) return this.find(userId, key);
    const { bytes, tokens, memoryIds } = stored;
    try {
      const { block, state } = this.#form.holdFile(bytes, `KV block ${key}`);
      this.#put({ userId, key, tokens, memoryIds }, block, true);
      return { state, tier: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-state') throw error;
      await this.#disk.reject(userId, key);
      return undefined;
    }
  }

  /**
   * Stores a copy of a block, only in memory until `settle` is called. Replaces the block of the same key.
   * @returns the copy, with quantisation losses if the store quantises; the given state may be disposed of
   */
  keep(about: OwnedKv, state: State): State {
    const held = this.#form.hold(state);
    this.#put(about, held, false);
    return held.read();
  }

  /** Writes blocks that are due to disk, and evicts from memory down to its bound. @throws BenchError `disk` */
  async settle(): Promise<void> {
    const unwritten = this.#timing === 'at-once' ? [...this.#blocks].filter(({ onDisk }) => !onDisk) : [];
    for (const block of unwritten) await this.#write(block);
    for (let block = this.#blocks.nextToEvict(); block !== undefined; block = this.#blocks.nextToEvict()) {
      if (!block.onDisk) await this.#write(block);
      if (!this.#holds(block)) continue;
      this.#blocks.evict(block);
      block.held.moveOut();
    }
  }

  /** Deletes a block that turned out unusable from both tiers; counts it as rejected. */
  async reject(userId: string, key: string): Promise<void> {
    const block = this.#blocks.get(blockId({ userId, key }));
    if (block !== undefined) this.#remove(block, 'erase');
    if (block?.isHit !== true) return this.#disk.reject(userId, key);
    this.#hits--;
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
    const inMemoryAlone = this.#forget(userId, memoryId).filter(({ onDisk }) => !onDisk).length;
    const count = await this.#disk.forgetMemory(userId, memoryId);
    // Once more, for blocks that were loaded from disk in the meantime.
    this.#forgotten++;
    this.#forget(userId, memoryId);
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
    for (const block of this.#blocks) this.#remove(block, 'erase');
    this.rotated.clear();
  }

  /** Counts of both tiers since the store was opened. */
  stats(): BlockStoreStats {
    const memory = { hits: this.#hits, ...this.#blocks.stats(), rotatedBytes: this.rotated.sizeBytes };
    return { memory, disk: this.#disk.stats() };
  }

  #put(about: OwnedKv, held: HeldBlock<State, File>, onDisk: boolean): void {
    const id = blockId(about);
    const before = this.#blocks.get(id);
    if (before !== undefined) this.#remove(before, 'moveOut');
    const block = { ...about, id, held, sizeBytes: held.sizeBytes, onDisk, isHit: false, usedAt: 0 };
    this.#blocks.use(block);
    this.#blocks.add(block);
  }

  /** Erases the user's blocks in memory that contain the memory, and returns them. */
  #forget(userId: string, memoryId: string): MemoryBlock<State, File>[] {
    const affected = [...this.#blocks].filter((block) => block.userId === userId && block.memoryIds.includes(memoryId));
    for (const block of affected) this.#remove(block, 'erase');
    return affected;
  }

  #remove(block: MemoryBlock<State, File>, how: 'moveOut' | 'erase'): void {
    this.#blocks.delete(block.id);
    block.held[how]();
  }

  /** False if the block was deleted or replaced since. */
  #holds(block: MemoryBlock<State, File>): boolean {
    return this.#blocks.get(block.id) === block;
  }

  async #write(block: MemoryBlock<State, File>): Promise<void> {
    if (!this.#holds(block)) return;
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

export function blockId({ userId, key }: Pick<OwnedKv, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
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
  const form = type === 'f16' ? arenaBlocks(rotated) : quantisedBlocks(type);
  return new BlockStore<SequenceState, Bytes>(disk, form, { maxBytes: share.blocks, timing, rotated });
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
