import { BenchError } from '../base/bench-error.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import { readQuantised } from './quantised-file.ts';

/** Cells at rest in quantised bytes; each time they are asked for, their numbers are restored. */
export class QuantisedCells {
  /** Of each cell. */
  readonly positions: Int32Array;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #isErased = false;

  /** @param bytes as `writeQuantised` gives them; they are this object's then */
  constructor(bytes: Uint8Array<ArrayBuffer>, { positions }: Pick<SequenceState, 'positions'>) {
    this.#bytes = bytes;
    this.positions = positions;
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  /** @throws BenchError `not-found` after `erase` */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (!this.#isErased) return this.#bytes;
    throw new BenchError('not-found', 'the K/V of a memory was deleted while a turn was using it', 'ask again');
  }

  /** A copy in the engine's own numbers. */
  restored(): SequenceState {
    return readQuantised(this.bytes);
  }

  /** Nothing lies in memory of the kernels. */
  moveOut(): void {
    // Those who found it have a copy.
  }

  erase(): void {
    this.#bytes.fill(0);
    this.#isErased = true;
  }
}
