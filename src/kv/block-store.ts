import { BenchError } from '../config/bench-error.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';
import { cutCells } from './cut-cells.ts';
import { KeptCells } from './kept-cells.ts';
import type { KvStore, KvStoreStats } from './kv-store.ts';
import { kvBytes } from './owned-state.ts';
import { RotatedKeys } from './rotated-keys.ts';

/** Share of the memory for rotated keys: they are half of a block. */
const ROTATED_SHARE = 1 / 3;

/** A block, and which tier had it. */
export interface FoundBlock {
  /** The store's own: disposing of it does nothing. */
  readonly state: SequenceState;
  readonly tier: 'memory' | 'disk';
}

/** Counts since the store was opened, by tier. */
export interface BlockStoreStats {
  readonly memory: {
    readonly hits: number;
    readonly evicted: number;
    readonly entries: number;
    readonly sizeBytes: number;
    /** Of keys that were rotated before. */
    readonly rotatedBytes: number;
    readonly maxBytes: number;
  };
  readonly disk: KvStoreStats;
}

/** A block to keep: its owner, and the cost of computing it. */
interface Block {
  readonly userId: string;
  readonly key: string;
  readonly tokens: number;
  readonly memoryIds: readonly string[];
  readonly onDisk: boolean;
}

interface Entry extends Block {
  readonly state: KeptCells;
  readonly sizeBytes: number;
  readonly usedAt: number;
}

/**
 * The time at which a block reaches the disk: `at-once` where other processes shall find it, `when-evicted` where the
 * folder goes with this process, so that a file is written for what no longer fits into memory alone.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

/**
 * Blocks of K/V by content key in two tiers: in memory, and behind it on disk. Both are bounded by bytes, give up first
 * what is cheap to recompute and long unused, and never show one user the block of another.
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
 *   block = await blocks.keep('ann', key, line.length, ['memory-1'], cells);
 * }
 */
export class BlockStore implements Disposable {
  /** Rotated keys of the blocks in memory; they go with their block. */
  readonly rotated: RotatedKeys;
  readonly #disk: KvStore;
  readonly #maxBytes: number;
  readonly #timing: DiskTiming;
  readonly #entries = new Map<string, Entry>();
  #clock = 0;
  #sizeBytes = 0;
  #hits = 0;
  #evicted = 0;
  /** Counts deletions of memories: a block that is on its way meanwhile may contain one of them. */
  #forgotten = 0;

  /** @param memoryBytes bound of the tier in memory, rotated keys included */
  constructor(store: KvStore, memoryBytes: number, timing: DiskTiming = 'at-once') {
    this.#disk = store;
    this.#timing = timing;
    const rotatedBytes = Math.floor(memoryBytes * ROTATED_SHARE);
    this.rotated = new RotatedKeys(rotatedBytes);
    this.#maxBytes = memoryBytes - rotatedBytes;
  }

  /** The block of that key; one that was found on disk is in memory from then on. @throws BenchError `disk` */
  async find(userId: string, key: string): Promise<FoundBlock | undefined> {
    const id = idOf(userId, key);
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      this.#hits++;
      this.#entries.set(id, { ...entry, usedAt: ++this.#clock });
      return { state: entry.state, tier: 'memory' };
    }
    const forgotten = this.#forgotten;
    const stored = await this.#disk.findBlock(userId, key);
    if (stored === undefined) return undefined;
    if (forgotten !== this.#forgotten) return this.find(userId, key);
    const { bytes, tokens, memoryIds } = stored;
    try {
      const state = readBlockFile(bytes, `K/V block ${key}`);
      const kept = await this.#remember({ userId, key, tokens, memoryIds, onDisk: true }, state);
      return { state: kept, tier: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-state') throw error;
      await this.#disk.reject(userId, key);
      return undefined;
    }
  }

  /**
   * Keeps a copy of a block, on disk too where it should be there at once.
   * @param tokens tokens that it took to compute it @param memoryIds the memories that it contains, for forgetting
   * @returns the copy; the state that was given can be disposed of
   * @throws BenchError `disk`
   */
  async keep(
    userId: string,
    key: string,
    tokens: number,
    memoryIds: readonly string[],
    state: SequenceState,
  ): Promise<SequenceState> {
    const onDisk = this.#timing === 'at-once';
    const block: Block = { userId, key, tokens, memoryIds, onDisk };
    const forgotten = this.#forgotten;
    if (onDisk) await this.#writeDown(block, state);
    // Forgotten while it was written: the turn has it still, and nobody will find it.
    if (forgotten !== this.#forgotten) return cutCells(state, 0, state.positions.length);
    return this.#remember(block, state);
  }

  /** Deletes a block that was found and could not be used, on both tiers; it counts as rejected. */
  async reject(userId: string, key: string): Promise<void> {
    const id = idOf(userId, key);
    const entry = this.#entries.get(id);
    if (entry === undefined) return this.#disk.reject(userId, key);
    this.#hits--;
    this.#drop(id, entry);
    entry.state.erase();
    this.#disk.countRejected();
    await this.#disk.discard(userId, key);
  }

  /** As `KvStore.countRejected`. */
  countRejected(): void {
    this.#disk.countRejected();
  }

  /** Deletes every block and checkpoint of the user that contains the memory, on both tiers, before it returns. */
  async forgetMemory(userId: string, memoryId: string): Promise<number> {
    const inMemoryAlone = this.#forgetInMemory(userId, memoryId);
    const count = await this.#disk.forgetMemory(userId, memoryId);
    // Those that were found on disk meanwhile.
    this.#forgetInMemory(userId, memoryId);
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
    for (const { state } of this.#entries.values()) state.erase();
    this.#entries.clear();
    this.#sizeBytes = 0;
    this.rotated.clear();
  }

  stats(): BlockStoreStats {
    return {
      memory: {
        hits: this.#hits,
        evicted: this.#evicted,
        entries: this.#entries.size,
        sizeBytes: this.#sizeBytes,
        rotatedBytes: this.rotated.sizeBytes,
        maxBytes: this.#maxBytes,
      },
      disk: this.#disk.stats(),
    };
  }

  /** Gives the number of those that were in memory alone. */
  #forgetInMemory(userId: string, memoryId: string): number {
    this.#forgotten++;
    let inMemoryAlone = 0;
    for (const [id, entry] of this.#entries) {
      if (entry.userId !== userId || !entry.memoryIds.includes(memoryId)) continue;
      this.#drop(id, entry);
      entry.state.erase();
      if (!entry.onDisk) inMemoryAlone++;
    }
    return inMemoryAlone;
  }

  async #remember(block: Block, state: SequenceState): Promise<KeptCells> {
    const id = idOf(block.userId, block.key);
    const before = this.#entries.get(id);
    if (before !== undefined) this.#release(id, before);
    const kept = new KeptCells(state);
    this.#entries.set(id, { ...block, state: kept, sizeBytes: kvBytes(kept), usedAt: ++this.#clock });
    this.#sizeBytes += kvBytes(kept);
    await this.#evict();
    return kept;
  }

  async #evict(): Promise<void> {
    if (this.#sizeBytes <= this.#maxBytes) return;
    const worth = ({ state, usedAt }: Entry): number => state.positions.length / (this.#clock - usedAt + 1);
    const isThere = (id: string, { state }: Entry): boolean => this.#entries.get(id)?.state === state;
    for (const [id, entry] of [...this.#entries].sort(([, a], [, b]) => worth(a) - worth(b))) {
      if (this.#sizeBytes <= this.#maxBytes) return;
      if (isThere(id, entry) && !entry.onDisk) await this.#writeDown(entry, entry.state);
      // It may have been forgotten while it was written.
      if (!isThere(id, entry)) continue;
      this.#release(id, entry);
      this.#evicted++;
    }
  }

  async #writeDown({ userId, key, tokens, memoryIds }: Block, state: SequenceState): Promise<void> {
    await this.#disk.keepBlock(userId, key, tokens, memoryIds, writeBlockFile(state));
  }

  /** Those who found the block before may read it still. */
  #release(id: string, entry: Entry): void {
    this.#drop(id, entry);
    entry.state.moveOut();
  }

  #drop(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#sizeBytes -= entry.sizeBytes;
    this.rotated.forget(entry.state);
  }
}

function idOf(userId: string, key: string): string {
  return JSON.stringify([userId, key]);
}
