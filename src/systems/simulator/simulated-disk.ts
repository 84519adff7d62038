import { type BlockDisk, type BlockForm, blockId, type HeldBlock } from '../../kv/block-store.ts';
import { BoundedEntries, type EvictionPolicy, type SizedEntry } from '../../kv/eviction-queue.ts';
import type { KvStoreStats } from '../../kv/kv-disk-store.ts';
import type { OwnedKv } from '../../kv/kv-key.ts';

/** KV without its numbers. */
export interface SimulatedKv {
  readonly tokens: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

/** Holds blocks that consist only of sizes. */
export const simulatedBlocks: BlockForm<SimulatedKv, SimulatedKv> = {
  hold,
  holdFile: (kv) => ({ block: hold(kv), state: kv }),
};

function hold(kv: SimulatedKv): HeldBlock<SimulatedKv, SimulatedKv> {
  const nothing = (): void => undefined;
  return { sizeBytes: kv.memoryBytes, read: () => kv, file: () => kv, moveOut: nothing, erase: nothing };
}

type Entry = OwnedKv & SizedEntry & { readonly bytes: SimulatedKv };

/** A `KvStore` of one process, without files: the same bound and the same order of eviction. */
export class SimulatedDisk implements BlockDisk<SimulatedKv> {
  readonly #entries: BoundedEntries<Entry>;
  readonly #counts = { hits: 0, misses: 0, rejected: 0 };
  #writtenBytes = 0;

  /** @param maxBytes 0 for no disk: nothing is stored */
  constructor(maxBytes: number, policy?: EvictionPolicy) {
    this.#entries = new BoundedEntries(maxBytes, policy);
  }

  async findBlock(userId: string, key: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(blockId({ userId, key }));
    this.#counts[entry === undefined ? 'misses' : 'hits']++;
    if (entry !== undefined) this.#entries.use(entry);
    return entry;
  }

  async keepBlock(about: OwnedKv, bytes: SimulatedKv): Promise<void> {
    if (this.#entries.stats().maxBytes === 0) return;
    await this.discard(about.userId, about.key);
    const newest: Entry = { ...about, id: blockId(about), bytes, sizeBytes: bytes.diskBytes, usedAt: 0 };
    this.#entries.use(newest);
    this.#entries.add(newest);
    this.#writtenBytes += bytes.diskBytes;
    for (let next = this.#entries.nextToEvict(newest); next; next = this.#entries.nextToEvict(newest)) {
      this.#entries.evict(next);
    }
  }

  async discard(userId: string, key: string): Promise<void> {
    this.#entries.delete(blockId({ userId, key }));
  }

  async reject(userId: string, key: string): Promise<void> {
    this.countRejected();
    await this.discard(userId, key);
  }

  countRejected(): void {
    this.#counts.rejected++;
  }

  async forgetMemory(userId: string, memoryId: string): Promise<number> {
    const affected = [...this.#entries].filter(
      (entry) => entry.userId === userId && entry.memoryIds.includes(memoryId),
    );
    for (const { id } of affected) this.#entries.delete(id);
    return affected.length;
  }

  async clear(): Promise<void> {
    for (const { id } of this.#entries) this.#entries.delete(id);
  }

  stats(): KvStoreStats & { readonly writtenBytes: number } {
    return { ...this.#counts, ...this.#entries.stats(), writtenBytes: this.#writtenBytes };
  }
}
