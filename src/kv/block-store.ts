import { BenchError } from '../config/bench-error.ts';
import { kvBytes } from './cut-block.ts';
import { PLACEHOLDER_TOKEN } from './join-blocks.ts';
import { KeptCells } from './kept-cells.ts';
import { RotatedKeys } from './rotated-keys.ts';
import { type KvCells, parseSequenceState, writeSequenceState } from './sequence-state.ts';
import type { StateStore, StateStoreStats } from './state-store.ts';

/** Of what is kept in memory, the part for keys that were turned before: they are half of a block. */
const ROTATED_SHARE = 1 / 3;

/** A block, and which tier had it. */
export interface FoundBlock {
  readonly cells: KvCells;
  readonly tier: 'memory' | 'disk';
}

/** Counts since the store was opened, by tier. */
export interface BlockStoreStats {
  readonly memory: {
    readonly hits: number;
    readonly evicted: number;
    readonly entries: number;
    readonly sizeBytes: number;
    /** Keys that were turned before. */
    readonly rotatedBytes: number;
    readonly maxBytes: number;
  };
  readonly disk: StateStoreStats;
}

/** A block that shall be kept: whose it is, and what it took to compute. */
interface Block {
  readonly userId: string;
  readonly key: string;
  readonly tokens: number;
  readonly memoryIds: readonly string[];
  readonly cells: KvCells;
  readonly onDisk: boolean;
}

interface Entry extends Block {
  readonly cells: KeptCells;
  readonly sizeBytes: number;
  readonly usedAt: number;
}

/**
 * When a block reaches the disk: `at-once` where other processes shall find it, `when-evicted` where the folder goes with
 * this process, so that a file is written for what no longer fits into memory alone.
 */
export type DiskTiming = 'at-once' | 'when-evicted';

/**
 * Blocks of K/V by content key in two tiers: in memory, and behind it on disk as llama.cpp states. Both are bounded by
 * bytes, give up first what is cheap to recompute and long unused, and never show one user the block of another.
 */
export class BlockStore implements Disposable {
  /** Turned keys of the blocks in memory; they go with their block. */
  readonly rotated: RotatedKeys;
  readonly #states: StateStore;
  readonly #maxBytes: number;
  readonly #timing: DiskTiming;
  readonly #entries = new Map<string, Entry>();
  #clock = 0;
  #sizeBytes = 0;
  #hits = 0;
  #evicted = 0;

  /** @param memoryBytes bound of the tier in memory, turned keys included */
  constructor(states: StateStore, memoryBytes: number, timing: DiskTiming = 'at-once') {
    this.#states = states;
    this.#timing = timing;
    const rotatedBytes = Math.floor(memoryBytes * ROTATED_SHARE);
    this.rotated = new RotatedKeys(rotatedBytes);
    this.#maxBytes = memoryBytes - rotatedBytes;
  }

  /** The block of that key; one that was found on disk is in memory from then on. */
  find(userId: string, key: string): FoundBlock | undefined {
    const id = idOf(userId, key);
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      this.#hits++;
      this.#entries.set(id, { ...entry, usedAt: ++this.#clock });
      return { cells: entry.cells, tier: 'memory' };
    }
    const state = this.#states.read(userId, key);
    if (state === undefined) return undefined;
    try {
      const { cells } = parseSequenceState(state.bytes, `K/V block ${key}`);
      const { tokens, memoryIds } = state.record;
      return { cells: this.#remember(id, { userId, key, tokens, memoryIds, cells, onDisk: true }), tier: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      this.#states.reject(userId, key);
      return undefined;
    }
  }

  /**
   * Keeps a block, on disk too where it should be there at once.
   * @param tokens tokens that it took to compute it @param memoryIds the memories that it contains, for forgetting
   * @returns the cells as they are kept
   * @throws BenchError `disk`
   */
  keep(userId: string, key: string, tokens: number, memoryIds: readonly string[], cells: KvCells): KvCells {
    const onDisk = this.#timing === 'at-once';
    const block: Block = { userId, key, tokens, memoryIds, cells, onDisk };
    if (onDisk) this.#writeDown(block);
    return this.#remember(idOf(userId, key), block);
  }

  /** Deletes every block and prefix of the user that contains the memory, on both tiers, before it returns. */
  forgetMemory(userId: string, memoryId: string): number {
    let inMemoryAlone = 0;
    for (const [id, entry] of this.#entries) {
      if (entry.userId !== userId || !entry.memoryIds.includes(memoryId)) continue;
      this.#drop(id, entry);
      entry.cells.erase();
      if (!entry.onDisk) inMemoryAlone++;
    }
    return inMemoryAlone + this.#states.forgetMemory(userId, memoryId);
  }

  /** Deletes everything on both tiers. */
  clear(): void {
    this[Symbol.dispose]();
    this.#states.clear();
  }

  /** Gives all memory back; what is on disk stays. */
  [Symbol.dispose](): void {
    for (const { cells } of this.#entries.values()) cells.erase();
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
      disk: this.#states.stats(),
    };
  }

  #remember(id: string, block: Block): KvCells {
    const before = this.#entries.get(id);
    if (before !== undefined) this.#release(id, before);
    const cells = new KeptCells(block.cells);
    this.#entries.set(id, { ...block, cells, sizeBytes: kvBytes(cells), usedAt: ++this.#clock });
    this.#sizeBytes += kvBytes(cells);
    this.#evict();
    return cells;
  }

  #evict(): void {
    if (this.#sizeBytes <= this.#maxBytes) return;
    const worth = ({ cells, usedAt }: Entry): number => cells.positions.length / (this.#clock - usedAt + 1);
    for (const [id, entry] of [...this.#entries].sort(([, a], [, b]) => worth(a) - worth(b))) {
      if (this.#sizeBytes <= this.#maxBytes) return;
      if (!entry.onDisk) this.#writeDown(entry);
      this.#release(id, entry);
      this.#evicted++;
    }
  }

  #writeDown({ userId, key, tokens, memoryIds, cells }: Block): void {
    this.#states.keepBytes(userId, key, tokens, memoryIds, asState(cells));
  }

  /** Who found the block before may read it still. */
  #release(id: string, entry: Entry): void {
    this.#drop(id, entry);
    entry.cells.moveOut();
  }

  #drop(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#sizeBytes -= entry.sizeBytes;
    this.rotated.forget(entry.cells);
  }
}

function idOf(userId: string, key: string): string {
  return JSON.stringify([userId, key]);
}

/** A state of the block's cells alone, its positions kept; the header's are placeholders there. */
function asState(cells: KvCells): Uint8Array<ArrayBuffer> {
  const tokenIds = new Int32Array(cells.positions.at(-1)! + 1).fill(PLACEHOLDER_TOKEN);
  cells.positions.forEach((position, cell) => (tokenIds[position] = cells.tokenIds[cell]!));
  return writeSequenceState({ cells, tokenIds, streams: 1, stream: 0, sequenceId: 0 });
}
