import type { SequenceState } from '../engine/sequence-state.ts';

interface Entry {
  readonly block: SequenceState;
  readonly distance: number;
  readonly keys: readonly Uint8Array[];
  readonly sizeBytes: number;
}

/**
 * Rotated keys of blocks, by block and distance, least recently used out first. A distance is kept when it comes for the
 * second time: keeping costs as much as rotating, and most distances never come again.
 */
export class RotatedKeyCache {
  readonly #maxBytes: number;
  /** In the order of use: the last was used last. */
  readonly #entries = new Set<Entry>();
  readonly #byBlock = new Map<SequenceState, Map<number, Entry>>();
  /** Distances that came once. */
  #once = new WeakMap<SequenceState, Set<number>>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The keys of each layer, rotated by the distance. */
  find(block: SequenceState, distance: number): readonly Uint8Array[] | undefined {
    const entry = this.#byBlock.get(block)?.get(distance);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.keys;
  }

  /** Notes a distance, and copies the keys of each layer if it came before. Keys larger than the bound are not kept. */
  keep(block: SequenceState, distance: number, rotated: () => readonly Uint8Array[]): void {
    const once = this.#once.get(block) ?? new Set();
    this.#once.set(block, once);
    if (!once.has(distance)) {
      once.add(distance);
      return;
    }
    const keys = rotated();
    const sizeBytes = keys.reduce((sum, layer) => sum + layer.length, 0);
    if (sizeBytes > this.#maxBytes) return;
    const known = this.#byBlock.get(block)?.get(distance);
    if (known !== undefined) this.#remove(known);
    for (const oldest of this.#entries) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
    const entry: Entry = { block, distance, keys: copy(keys, sizeBytes), sizeBytes };
    this.#entries.add(entry);
    const distances = this.#byBlock.get(block) ?? new Map<number, Entry>();
    this.#byBlock.set(block, distances.set(distance, entry));
    this.#sizeBytes += sizeBytes;
  }

  /** Drops everything of a block: it was evicted, or its memory was forgotten. */
  forget(block: SequenceState): void {
    this.#once.delete(block);
    for (const entry of [...(this.#byBlock.get(block)?.values() ?? [])]) this.#remove(entry);
  }

  /** Forgets all rotated keys. */
  clear(): void {
    this.#entries.clear();
    this.#byBlock.clear();
    this.#once = new WeakMap();
    this.#sizeBytes = 0;
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#sizeBytes -= entry.sizeBytes;
    const distances = this.#byBlock.get(entry.block);
    distances?.delete(entry.distance);
    if (distances?.size === 0) this.#byBlock.delete(entry.block);
  }
}

/** One allocation for all layers: thousands of small ones would cost more than the rotation. */
function copy(keys: readonly Uint8Array[], sizeBytes: number): Uint8Array[] {
  const memory = Buffer.allocUnsafeSlow(sizeBytes);
  let offset = 0;
  return keys.map((layer) => {
    memory.set(layer, offset);
    return memory.subarray(offset, (offset += layer.length));
  });
}
