import { LRUCache } from 'lru-cache';
import type { SequenceState } from '../engine/sequence-state.ts';

/**
 * An LRU cache of rotated keys, by block and distance. Keys are stored when a distance occurs for the second time, because
 * storing costs as much as rotating and most distances never recur.
 */
export class RotatedKeyCache {
  readonly #keys: LRUCache<string, readonly Uint8Array[]>;
  /** For each block: an id, and the distances by which it was moved. */
  #moved = new WeakMap<SequenceState, { readonly id: number; readonly distances: Set<number> }>();
  #blocks = 0;

  constructor(maxBytes: number) {
    this.#keys = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (keys) => keys.reduce((sum, layer) => sum + layer.length, 0),
    });
  }

  get sizeBytes(): number {
    return this.#keys.calculatedSize;
  }

  /** The keys of each layer, rotated by the distance. */
  find(block: SequenceState, distance: number): readonly Uint8Array[] | undefined {
    const moved = this.#moved.get(block);
    return moved && this.#keys.get(`${moved.id}/${distance}`);
  }

  /** Notes a distance; if it occurred before, stores a copy of the keys of each layer, unless they exceed the bound. */
  keep(block: SequenceState, distance: number, rotated: () => readonly Uint8Array[]): void {
    const moved = this.#moved.get(block) ?? { id: ++this.#blocks, distances: new Set() };
    this.#moved.set(block, moved);
    if (moved.distances.has(distance)) this.#keys.set(`${moved.id}/${distance}`, copy(rotated()));
    moved.distances.add(distance);
  }

  /** Drops all rotated keys of a block. */
  forget(block: SequenceState): void {
    const { id, distances = [] } = this.#moved.get(block) ?? {};
    for (const distance of distances) this.#keys.delete(`${id}/${distance}`);
    this.#moved.delete(block);
  }

  /** Drops all rotated keys. */
  clear(): void {
    this.#keys.clear();
    this.#moved = new WeakMap();
  }
}

/** One allocation for all layers: thousands of small ones would cost more than the rotation. */
function copy(keys: readonly Uint8Array[]): Uint8Array[] {
  const memory = Buffer.allocUnsafeSlow(keys.reduce((sum, layer) => sum + layer.length, 0));
  let offset = 0;
  return keys.map((layer) => {
    memory.set(layer, offset);
    return memory.subarray(offset, (offset += layer.length));
  });
}
