import type { KvCells } from './sequence-state.ts';

interface Entry {
  readonly cells: KvCells;
  readonly distance: number;
  readonly keys: readonly Uint8Array[];
  readonly sizeBytes: number;
}

/**
 * Keys of blocks that were turned before, by block and distance, within a bound of bytes; the longest unused go first.
 * A distance is kept when it comes for the second time: to keep costs as much as to turn, and most never come again.
 */
export class RotatedKeys {
  readonly #maxBytes: number;
  /** In the order of use: the last was used last. */
  readonly #entries = new Set<Entry>();
  readonly #byCells = new Map<KvCells, Map<number, Entry>>();
  /** Distances that came once; they go with their block. */
  #once = new WeakMap<KvCells, Set<number>>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The keys of each layer, turned by the distance. */
  find(cells: KvCells, distance: number): readonly Uint8Array[] | undefined {
    const entry = this.#byCells.get(cells)?.get(distance);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.keys;
  }

  /**
   * Takes note of a distance, and copies the keys of each layer where it came before, so that they can be found again.
   * What is larger than the bound is not kept.
   * @param turned gives the keys; asked only where they are copied
   */
  keep(cells: KvCells, distance: number, turned: () => readonly Uint8Array[]): void {
    if (!this.#cameBefore(cells, distance)) return;
    const keys = turned();
    const sizeBytes = keys.reduce((sum, layer) => sum + layer.length, 0);
    if (sizeBytes > this.#maxBytes) return;
    const known = this.#byCells.get(cells)?.get(distance);
    if (known !== undefined) this.#remove(known);
    for (const oldest of this.#entries) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
    const entry: Entry = { cells, distance, keys: copies(keys, sizeBytes), sizeBytes };
    this.#entries.add(entry);
    const distances = this.#byCells.get(cells) ?? new Map<number, Entry>();
    this.#byCells.set(cells, distances.set(distance, entry));
    this.#sizeBytes += sizeBytes;
  }

  /** Gives up everything of a block: it was evicted, or its memory was forgotten. */
  forget(cells: KvCells): void {
    this.#once.delete(cells);
    for (const entry of [...(this.#byCells.get(cells)?.values() ?? [])]) this.#remove(entry);
  }

  /** Gives up everything. */
  clear(): void {
    this.#entries.clear();
    this.#byCells.clear();
    this.#once = new WeakMap();
    this.#sizeBytes = 0;
  }

  #cameBefore(cells: KvCells, distance: number): boolean {
    const once = this.#once.get(cells) ?? new Set();
    if (once.has(distance)) return true;
    this.#once.set(cells, once.add(distance));
    return false;
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#sizeBytes -= entry.sizeBytes;
    const distances = this.#byCells.get(entry.cells);
    distances?.delete(entry.distance);
    if (distances?.size === 0) this.#byCells.delete(entry.cells);
  }
}

/** One piece of memory for all layers: thousands of small ones would cost more than the turning. */
function copies(keys: readonly Uint8Array[], sizeBytes: number): Uint8Array[] {
  const memory = Buffer.allocUnsafeSlow(sizeBytes);
  let offset = 0;
  return keys.map((layer) => {
    memory.set(layer, offset);
    return memory.subarray(offset, (offset += layer.length));
  });
}
