import { BenchError } from '../base/bench-error.ts';
import { keyRowBytes, type KvLayout, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { cutCells } from './cut-cells.ts';
import { giveMemoryBack, memoryAt, takeMemory, wholeMemory } from './kernel-memory.ts';
import { kvBytes } from './owned-state.ts';

/** Addresses of the keys and the values of each layer in the memory of the kernels. */
export interface KernelPlace {
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
}

/**
 * A copy of cells in the memory of the kernels, where a join reads it without another copy; in memory of its own where
 * the kernels can have no more, or where it moved out. Its memory is given back by `moveOut` and `erase`, by nothing
 * else: it belongs to its keeper, so that those who found it dispose of nothing.
 */
export class KeptCells implements SequenceState {
  readonly layout: KvLayout;
  readonly tokenIds: Int32Array;
  readonly positions: Int32Array;
  #place: KernelPlace | undefined;
  #own: SequenceState | undefined;

  constructor(cells: SequenceState) {
    this.layout = cells.layout;
    this.tokenIds = cells.tokenIds;
    this.positions = cells.positions;
    // Cells that are gone throw here, before memory is taken.
    const sizeBytes = [...cells.keys, ...cells.values].reduce((sum, { length }) => sum + length, 0);
    const address = takeMemory(sizeBytes);
    if (address === undefined) {
      this.#own = cutCells(cells, 0, cells.positions.length);
      return;
    }
    const memory = wholeMemory();
    let end = address;
    const put = (tensor: Uint8Array): number => {
      const start = end;
      memory.set(tensor, start);
      end += tensor.length;
      return start;
    };
    this.#place = { keysAt: cells.keys.map(put), valuesAt: cells.values.map(put) };
  }

  /** The place where the kernels find it; undefined where they do not. */
  get place(): KernelPlace | undefined {
    return this.#place;
  }

  /** Views, which last until more is kept. @throws BenchError `not-found` after `erase` */
  get keys(): readonly Uint8Array[] {
    return this.#own?.keys ?? this.#views(this.#placeOrGone().keysAt, keyRowBytes(this.layout));
  }

  /** As `keys`. */
  get values(): readonly Uint8Array[] {
    return this.#own?.values ?? this.#views(this.#placeOrGone().valuesAt, valueRowBytes(this.layout));
  }

  [Symbol.dispose](): void {
    // Nothing: see above.
  }

  /** Gives the memory of the kernels back. A turn may hold the cells still: it reads them in memory of their own. */
  moveOut(): void {
    if (this.#place === undefined) return;
    this.#own = cutCells(this, 0, this.positions.length);
    this.#giveBack(this.#place);
  }

  /** Clears the keys and values and gives their memory back: nobody can read them any more. */
  erase(): void {
    if (this.#place !== undefined) {
      const address = this.#place.keysAt[0]!;
      wholeMemory().fill(0, address, address + kvBytes(this));
      this.#giveBack(this.#place);
    }
    for (const tensor of [...(this.#own?.keys ?? []), ...(this.#own?.values ?? [])]) tensor.fill(0);
    this.#own = undefined;
  }

  #giveBack({ keysAt }: KernelPlace): void {
    giveMemoryBack(keysAt[0]!, kvBytes(this));
    this.#place = undefined;
  }

  #placeOrGone(): KernelPlace {
    if (this.#place !== undefined) return this.#place;
    throw new BenchError(
      'not-found',
      'the K/V of a memory was deleted while a turn was using it',
      'ask again: the turn will be made of the memories that are left',
    );
  }

  #views(addresses: readonly number[], rowBytes: number): Uint8Array[] {
    return memoryAt(addresses, this.positions.length * rowBytes);
  }
}
