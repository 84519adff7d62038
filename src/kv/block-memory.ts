import type { SequenceState } from '../engine/sequence-state.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';
import { ArenaCells, deletedDuringTurn } from './arena-cells.ts';
import type { AboutKv } from './kv-record.ts';
import { kvBytes } from './cut-cells.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';
import { RotatedKeyCache } from './rotated-key-cache.ts';

/** Share of the memory for rotated keys: they are half of a block. */
const ROTATED_SHARE = 1 / 3;

/** A block to keep: its owner, the cost of computing it, and whether the disk has it too. */
export interface Block extends AboutKv {
  readonly userId: string;
  readonly key: string;
  readonly onDisk: boolean;
}

/** A block in memory. */
export interface KeptBlock extends Block {
  readonly state: ArenaCells | QuantisedCells;
  readonly sizeBytes: number;
  readonly usedAt: number;
}

/** Counts of blocks in memory since it was opened. */
export interface BlockMemoryStats {
  readonly hits: number;
  readonly evicted: number;
  readonly entries: number;
  readonly sizeBytes: number;
  /** Of keys that were rotated before. */
  readonly rotatedBytes: number;
  readonly maxBytes: number;
}

/** Quantised cells; they are restored each time they are found. */
class QuantisedCells {
  readonly positions: Int32Array;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #isErased = false;

  /** @param bytes as `writeQuantised` gives them; this object owns them then */
  constructor(bytes: Uint8Array<ArrayBuffer>, { positions }: Pick<SequenceState, 'positions'>) {
    this.#bytes = bytes;
    this.positions = positions;
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  /** @throws BenchError `not-found` after `erase` */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#isErased) throw deletedDuringTurn();
    return this.#bytes;
  }

  moveOut(): void {
    // Nothing: it is not in the arena, and turns that found it have copies.
  }

  erase(): void {
    this.#bytes.fill(0);
    this.#isErased = true;
  }
}

/** Blocks of KV in memory, by user and content key. It says which of them exceeds its bound, and evicts what it is told to. */
export class BlockMemory {
  /** Rotated keys of the blocks; they go with their block. */
  readonly rotated: RotatedKeyCache;
  readonly #maxBytes: number;
  readonly #type: StoreType;
  readonly #blocks = new Map<string, KeptBlock>();
  #clock = 0;
  #sizeBytes = 0;
  #hits = 0;
  #evicted = 0;

  /** @param memoryBytes bound, rotated keys included @param type of the numbers in which blocks are kept */
  constructor(memoryBytes: number, type: StoreType) {
    const rotatedBytes = Math.floor(memoryBytes * ROTATED_SHARE);
    this.rotated = new RotatedKeyCache(rotatedBytes);
    this.#maxBytes = memoryBytes - rotatedBytes;
    this.#type = type;
  }

  /** Those that are in memory alone. */
  get unwritten(): KeptBlock[] {
    return [...this.#blocks.values()].filter(({ onDisk }) => !onDisk);
  }

  /** Of more than its bound holds, what is cheap to recompute and long unused; undefined within the bound. */
  get firstToGo(): KeptBlock | undefined {
    if (this.#sizeBytes <= this.#maxBytes) return undefined;
    const worth = ({ state, usedAt }: KeptBlock): number => state.positions.length / (this.#clock - usedAt + 1);
    return [...this.#blocks.values()].reduce((least, block) => (worth(block) < worth(least) ? block : least));
  }

  find(userId: string, key: string): SequenceState | undefined {
    const id = idOf({ userId, key });
    const block = this.#blocks.get(id);
    if (block === undefined) return undefined;
    this.#hits++;
    this.#blocks.set(id, { ...block, usedAt: ++this.#clock });
    return cellsOf(block.state);
  }

  /** Keeps a copy, in place of one that it has under that key. */
  keep(block: Block, state: SequenceState): SequenceState {
    if (this.#type === 'f16') return this.#put(block, new ArenaCells(state));
    return this.#put(block, new QuantisedCells(writeQuantised(state, this.#type), state));
  }

  /** As `keep`, of the bytes of a file that `fileOf` gave. @throws BenchError `bad-state` */
  keepFile(block: Block, bytes: Uint8Array, name: string): SequenceState {
    if (this.#type === 'f16') return this.keep(block, readBlockFile(bytes, name));
    return this.#put(block, new QuantisedCells(bytes.slice(), readQuantised(bytes, name)));
  }

  #put(block: Block, kept: ArenaCells | QuantisedCells): SequenceState {
    const before = this.#blocks.get(idOf(block));
    if (before !== undefined) this.#moveOut(before);
    const sizeBytes = kept instanceof QuantisedCells ? kept.sizeBytes : kvBytes(kept);
    this.#blocks.set(idOf(block), { ...block, state: kept, sizeBytes, usedAt: ++this.#clock });
    this.#sizeBytes += sizeBytes;
    return cellsOf(kept);
  }

  /** True while this very copy is kept. */
  holds(block: KeptBlock): boolean {
    return this.#blocks.get(idOf(block))?.state === block.state;
  }

  /** Notes whether the disk has a block, while it is kept. */
  note(block: KeptBlock, onDisk: boolean): void {
    if (this.holds(block)) this.#blocks.set(idOf(block), { ...this.#blocks.get(idOf(block))!, onDisk });
  }

  /** Gives a block up, if it is kept still. */
  evict(block: KeptBlock): void {
    if (!this.holds(block)) return;
    this.#moveOut(block);
    this.#evicted++;
  }

  /** Erases a block that was found and cannot be used, which is no hit then. @returns false where it is not here */
  reject(userId: string, key: string): boolean {
    const block = this.#blocks.get(idOf({ userId, key }));
    if (block === undefined) return false;
    this.#hits--;
    this.#erase(block);
    return true;
  }

  /** Erases the blocks of a user that contain the memory; gives the number of those that were in memory alone. */
  forget(userId: string, memoryId: string): number {
    const affected = [...this.#blocks.values()].filter(
      (block) => block.userId === userId && block.memoryIds.includes(memoryId),
    );
    affected.forEach((block) => this.#erase(block));
    return affected.filter(({ onDisk }) => !onDisk).length;
  }

  /** Erases everything. */
  clear(): void {
    for (const { state } of this.#blocks.values()) state.erase();
    this.#blocks.clear();
    this.#sizeBytes = 0;
    this.rotated.clear();
  }

  stats(): BlockMemoryStats {
    return {
      hits: this.#hits,
      evicted: this.#evicted,
      entries: this.#blocks.size,
      sizeBytes: this.#sizeBytes,
      rotatedBytes: this.rotated.sizeBytes,
      maxBytes: this.#maxBytes,
    };
  }

  /** Those who found the block before may read it still. */
  #moveOut(block: KeptBlock): void {
    this.#drop(block);
    block.state.moveOut();
  }

  #erase(block: KeptBlock): void {
    this.#drop(block);
    block.state.erase();
  }

  #drop(block: KeptBlock): void {
    this.#blocks.delete(idOf(block));
    this.#sizeBytes -= block.sizeBytes;
    if (block.state instanceof ArenaCells) this.rotated.forget(block.state);
  }
}

/** The bytes of a block as the disk keeps it. */
export function fileOf({ state }: Pick<KeptBlock, 'state'>): Uint8Array<ArrayBuffer> {
  return state instanceof QuantisedCells ? state.bytes : writeBlockFile(state);
}

/** The cells themselves, or a copy that is restored. */
function cellsOf(kept: ArenaCells | QuantisedCells): SequenceState {
  return kept instanceof QuantisedCells ? readQuantised(kept.bytes) : kept;
}

function idOf({ userId, key }: Pick<Block, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
}
