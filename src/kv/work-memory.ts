import type { SequenceState } from '../engine/sequence-state.ts';
import { giveMemoryBack, takeMemory } from './kernel-memory.ts';
import { KeptCells, type KernelPlace } from './kept-cells.ts';

/** Memory of the kernels that one piece of work needs besides its result, until it is disposed of. */
export class WorkMemory implements Disposable {
  readonly #guests = new Map<SequenceState, KeptCells>();
  readonly #taken: { readonly address: number; readonly sizeBytes: number }[] = [];

  /** The place of cells; those that lie elsewhere come in as guests. @throws RangeError where there is no room */
  placeOf(cells: SequenceState): KernelPlace {
    const kept = cells instanceof KeptCells && cells.place !== undefined ? cells : this.#guest(cells);
    return kept.place ?? noRoom();
  }

  /** The address of memory to work in. @throws RangeError where there is no room */
  take(sizeBytes: number): number {
    const address = takeMemory(sizeBytes) ?? noRoom();
    this.#taken.push({ address, sizeBytes });
    return address;
  }

  [Symbol.dispose](): void {
    for (const guest of this.#guests.values()) guest.erase();
    for (const { address, sizeBytes } of this.#taken) giveMemoryBack(address, sizeBytes);
  }

  #guest(cells: SequenceState): KeptCells {
    const guest = this.#guests.get(cells) ?? new KeptCells(cells);
    this.#guests.set(cells, guest);
    return guest;
  }
}

function noRoom(): never {
  throw new RangeError('the blocks of K/V of one turn do not fit into 4 GiB');
}
