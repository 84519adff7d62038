import { BoundedEntries, type EvictionPolicy, type SizedEntry } from './eviction-queue.ts';
import type { OwnedKv } from './kv-key.ts';

/** A block as a memory tier holds it. */
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
export interface MemoryBlock<State, File> extends OwnedKv, SizedEntry {
  readonly held: HeldBlock<State, File>;
  onDisk: boolean;
  /** True once a turn has found it in memory, rather than stored it or loaded it from disk. */
  isHit: boolean;
}

/** KV blocks in memory, by user and content key. The caller keeps it below its bound by calling `evict`. */
export class BlockMemoryTier<State, File> {
  readonly #form: BlockForm<State, File>;
  readonly #blocks: BoundedEntries<MemoryBlock<State, File>>;
  #hits = 0;

  constructor(maxBytes: number, form: BlockForm<State, File>, policy?: EvictionPolicy) {
    this.#blocks = new BoundedEntries(maxBytes, policy);
    this.#form = form;
  }

  /** The blocks that are not on disk yet. */
  get unwritten(): MemoryBlock<State, File>[] {
    return [...this.#blocks].filter(({ onDisk }) => !onDisk);
  }

  /** The block to evict next (cheap to recompute, long unused); undefined while memory is within its bound. */
  get nextToEvict(): MemoryBlock<State, File> | undefined {
    return this.#blocks.nextToEvict();
  }

  find(userId: string, key: string): State | undefined {
    const block = this.#blocks.get(blockId({ userId, key }));
    if (block === undefined) return undefined;
    this.#hits++;
    block.isHit = true;
    this.#blocks.use(block);
    return block.held.read();
  }

  /** Stores a copy, replacing the block of the same key. */
  put(about: OwnedKv, state: State): State {
    const held = this.#form.hold(state);
    this.#put(about, held, false);
    return held.read();
  }

  /** Stores a block from its file. @throws BenchError `bad-state` */
  putFile(about: OwnedKv, file: File, name: string): State {
    const { block, state } = this.#form.holdFile(file, name);
    this.#put(about, block, true);
    return state;
  }

  /** True while exactly this copy is stored. */
  holds(block: MemoryBlock<State, File>): boolean {
    return this.#blocks.get(block.id) === block;
  }

  /** Evicts a block if it is still stored; running turns can still read it. */
  evict(block: MemoryBlock<State, File>): void {
    if (!this.holds(block)) return;
    this.#blocks.evict(block);
    block.held.moveOut();
  }

  /** Erases a block that turned out unusable, and does not count it as a hit. @returns false if it was none */
  reject(userId: string, key: string): boolean {
    const block = this.#blocks.get(blockId({ userId, key }));
    if (block === undefined) return false;
    if (block.isHit) this.#hits--;
    this.#remove(block, 'erase');
    return block.isHit;
  }

  /** Erases the blocks of a user that contain the memory. @returns how many of them were not on disk */
  forget(userId: string, memoryId: string): number {
    const affected = [...this.#blocks].filter((block) => block.userId === userId && block.memoryIds.includes(memoryId));
    for (const block of affected) this.#remove(block, 'erase');
    return affected.filter(({ onDisk }) => !onDisk).length;
  }

  clear(): void {
    for (const block of this.#blocks) this.#remove(block, 'erase');
  }

  /** Counts since opening. */
  stats(): Readonly<Record<'hits' | 'evicted' | 'entries' | 'sizeBytes' | 'maxBytes', number>> {
    return { hits: this.#hits, ...this.#blocks.stats() };
  }

  #put(about: OwnedKv, held: HeldBlock<State, File>, onDisk: boolean): void {
    const id = blockId(about);
    const before = this.#blocks.get(id);
    if (before !== undefined) this.#remove(before, 'moveOut');
    const block = { ...about, id, held, sizeBytes: held.sizeBytes, onDisk, isHit: false, usedAt: 0 };
    this.#blocks.use(block);
    this.#blocks.add(block);
  }

  #remove(block: MemoryBlock<State, File>, how: 'moveOut' | 'erase'): void {
    this.#blocks.delete(block.id);
    block.held[how]();
  }
}

export function blockId({ userId, key }: Pick<OwnedKv, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
}
