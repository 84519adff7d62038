import { kvBytes, type SequenceState } from '../engine/sequence-state.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { ArenaCells, deletedDuringTurn } from './arena-cells.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';
import { type Evictable, EvictionQueue } from './eviction-queue.ts';
import type { OwnedKv } from './kv-record.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';
import { RotatedKeyCache } from './rotated-key-cache.ts';

/** Share of the memory for rotated keys, which are half as large as their block. */
const ROTATED_SHARE = 1 / 3;

/** A block in memory. Turns may read its cells until it is erased. */
export interface MemoryBlock extends OwnedKv, Evictable {
  readonly cells: ArenaCells | QuantisedCells;
  readonly sizeBytes: number;
  onDisk: boolean;
}

/** Quantised cells outside the arena; each read returns a dequantised copy. */
class QuantisedCells {
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  /** @param bytes from `writeQuantised`, owned by this object from then on */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  /** @throws BenchError `not-found` after `erase` */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes === undefined) throw deletedDuringTurn();
    return this.#bytes;
  }

  erase(): void {
    this.#bytes?.fill(0);
    this.#bytes = undefined;
  }
}

/** KV blocks in memory, by user and content key. The caller keeps it below its bound by calling `evict`. */
export class BlockMemoryTier {
  /** Rotated keys of the blocks; deleted together with their block. */
  readonly rotated: RotatedKeyCache;
  readonly #maxBytes: number;
  readonly #type: StoreType;
  readonly #blocks = new Map<string, MemoryBlock>();
  readonly #evictable = new EvictionQueue<MemoryBlock>();
  #sizeBytes = 0;
  #hits = 0;
  #evicted = 0;

  /** @param memoryBytes bound, including rotated keys @param type number type of stored blocks */
  constructor(memoryBytes: number, type: StoreType) {
    const rotatedBytes = Math.floor(memoryBytes * ROTATED_SHARE);
    this.rotated = new RotatedKeyCache(rotatedBytes);
    this.#maxBytes = memoryBytes - rotatedBytes;
    this.#type = type;
  }

  /** The blocks that are not on disk yet. */
  get unwritten(): MemoryBlock[] {
    return [...this.#blocks.values()].filter(({ onDisk }) => !onDisk);
  }

  /** The block to evict next (cheap to recompute, long unused); undefined while memory is within its bound. */
  get nextToEvict(): MemoryBlock | undefined {
    return this.#sizeBytes <= this.#maxBytes ? undefined : this.#evictable.next();
  }

  find(userId: string, key: string): SequenceState | undefined {
    const block = this.#blocks.get(blockId({ userId, key }));
    if (block === undefined) return undefined;
    this.#hits++;
    this.#evictable.use(block);
    return readCells(block.cells);
  }

  /** Stores a copy, replacing the block of the same key. */
  put(about: OwnedKv, state: SequenceState): SequenceState {
    const cells = this.#type === 'f16' ? new ArenaCells(state) : new QuantisedCells(writeQuantised(state, this.#type));
    this.#put(about, cells, false);
    return readCells(cells);
  }

  /** Stores a block from the bytes of its file. @throws BenchError `bad-state` */
  putFile(about: OwnedKv, bytes: Uint8Array, name: string): SequenceState {
    if (this.#type === 'f16') {
      const cells = new ArenaCells(readBlockFile(bytes, name));
      this.#put(about, cells, true);
      return cells;
    }
    const state = readQuantised(bytes, name);
    this.#put(about, new QuantisedCells(bytes.slice()), true);
    return state;
  }

  /** True while exactly this copy is stored. */
  holds(block: MemoryBlock): boolean {
    return this.#blocks.get(blockId(block)) === block;
  }

  /** Evicts a block if it is still stored; running turns can still read it. */
  evict(block: MemoryBlock): void {
    if (!this.holds(block)) return;
    this.#moveOut(block);
    this.#evicted++;
  }

  /** Erases a block that turned out unusable, and does not count it as a hit. @returns false if it is not in memory */
  reject(userId: string, key: string): boolean {
    const block = this.#blocks.get(blockId({ userId, key }));
    if (block === undefined) return false;
    this.#hits--;
    this.#erase(block);
    return true;
  }

  /** Erases the blocks of a user that contain the memory. @returns how many of them were not on disk */
  forget(userId: string, memoryId: string): number {
    const affected = [...this.#blocks.values()].filter(
      (block) => block.userId === userId && block.memoryIds.includes(memoryId),
    );
    affected.forEach((block) => this.#erase(block));
    return affected.filter(({ onDisk }) => !onDisk).length;
  }

  clear(): void {
    for (const block of this.#blocks.values()) this.#erase(block);
    this.rotated.clear();
  }

  /** Counts since opening. */
  stats() {
    return {
      hits: this.#hits,
      evicted: this.#evicted,
      entries: this.#blocks.size,
      sizeBytes: this.#sizeBytes,
      rotatedBytes: this.rotated.sizeBytes,
      maxBytes: this.#maxBytes,
    };
  }

  #put({ userId, key, tokens, memoryIds }: OwnedKv, cells: MemoryBlock['cells'], onDisk: boolean): void {
    const id = blockId({ userId, key });
    const before = this.#blocks.get(id);
    if (before !== undefined) this.#moveOut(before);
    const sizeBytes = cells instanceof QuantisedCells ? cells.bytes.length : kvBytes(cells);
    const block = { userId, key, tokens, memoryIds, cells, sizeBytes, onDisk, usedAt: 0 };
    this.#blocks.set(id, block);
    this.#evictable.use(block);
    this.#evictable.add(block);
    this.#sizeBytes += sizeBytes;
  }

  #moveOut(block: MemoryBlock): void {
    this.#drop(block);
    if (block.cells instanceof ArenaCells) block.cells.moveOut();
  }

  #erase(block: MemoryBlock): void {
    this.#drop(block);
    block.cells.erase();
  }

  #drop(block: MemoryBlock): void {
    this.#blocks.delete(blockId(block));
    this.#evictable.delete(block);
    this.#sizeBytes -= block.sizeBytes;
    if (block.cells instanceof ArenaCells) this.rotated.forget(block.cells);
  }
}

export function fileBytes({ cells }: MemoryBlock): Uint8Array<ArrayBuffer> {
  return cells instanceof QuantisedCells ? cells.bytes : writeBlockFile(cells);
}

function readCells(cells: MemoryBlock['cells']): SequenceState {
  return cells instanceof QuantisedCells ? readQuantised(cells.bytes) : cells;
}

function blockId({ userId, key }: Pick<OwnedKv, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
}
