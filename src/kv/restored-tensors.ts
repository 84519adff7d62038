import { cellBytes, type KvLayout, numberBytes, type NumberType } from '../engine/sequence-state.ts';
import type { QuantisedType } from '../store/records/store-type.ts';
import { wholeMemory } from './kernel-memory.ts';
import { restoreKernel } from './quantised-kernels.ts';
import { NUMBERS_OF_BLOCK, quantisedBytes } from './quantised-numbers.ts';
import { unusableNumbers } from './scale-numbers.ts';
import { transposeNumbers } from './transpose-numbers.ts';
import type { WorkMemory } from './work-memory.ts';

/** Bytes of the largest number. */
const LARGEST_NUMBER_BYTES = 4;

/** Restores the tensors of some cells one by one, each into its place in one piece of plain memory. */
export class RestoredTensors {
  /** Of one tensor. */
  readonly atRestBytes: number;
  readonly #layout: KvLayout;
  readonly #cells: number;
  readonly #type: QuantisedType;
  /** Addresses in the memory of the kernels: of what is restored, of its numbers, and of these transposed. */
  readonly #source: number;
  readonly #rows: number;
  readonly #columns: number;
  readonly #memory: Uint8Array<ArrayBuffer>;
  #used = 0;

  /** @param work for as long as tensors are restored */
  constructor(layout: KvLayout, cells: number, type: QuantisedType, work: WorkMemory) {
    this.#layout = layout;
    this.#cells = cells;
    this.#type = type;
    const numbers = cells * layout.heads * layout.headDimension;
    this.atRestBytes = cells * layout.heads * quantisedBytes(layout.headDimension, type);
    this.#source = work.take(this.atRestBytes);
    // The last block of a head may not be full: the kernel writes all of it.
    this.#rows = work.take((numbers + NUMBERS_OF_BLOCK) * LARGEST_NUMBER_BYTES);
    this.#columns = work.take(numbers * LARGEST_NUMBER_BYTES);
    this.#memory = new Uint8Array(Buffer.allocUnsafeSlow(cells * cellBytes(layout)).buffer);
  }

  /** @throws BenchError `bad-state` for a scale that is not finite */
  keys(atRest: Uint8Array): Uint8Array {
    if (!this.#restore(atRest, this.#layout.keyType)) throw unusableNumbers('keys');
    return this.#taken(this.#rows, this.#layout.keyType);
  }

  /** As `keys`. */
  values(atRest: Uint8Array): Uint8Array {
    const { valueType, valuesTransposed, heads, headDimension } = this.#layout;
    if (!this.#restore(atRest, valueType)) throw unusableNumbers('values');
    if (!valuesTransposed) return this.#taken(this.#rows, valueType);
    const matrix = { address: this.#rows, rows: this.#cells, columns: heads * headDimension };
    transposeNumbers(matrix, valueType, this.#columns);
    return this.#taken(this.#columns, valueType);
  }

  /** @returns false where a scale is not finite */
  #restore(atRest: Uint8Array, into: NumberType): boolean {
    const { headDimension } = this.#layout;
    wholeMemory().set(atRest, this.#source);
    const kernel = restoreKernel(this.#type, into);
    const end = this.#source + this.atRestBytes;
    if (headDimension % NUMBERS_OF_BLOCK === 0) return kernel(this.#source, end, this.#rows) === 0;
    // Each head ends within a block, whose rest the next one overwrites.
    const headBytes = quantisedBytes(headDimension, this.#type);
    const step = headDimension * numberBytes(into);
    let isFinite = true;
    for (let from = this.#source, to = this.#rows; from < end; from += headBytes, to += step) {
      if (kernel(from, from + headBytes, to) !== 0) isFinite = false;
    }
    return isFinite;
  }

  /** Copies a tensor out of the memory of the kernels. */
  #taken(address: number, type: NumberType): Uint8Array {
    const { heads, headDimension } = this.#layout;
    const sizeBytes = this.#cells * heads * headDimension * numberBytes(type);
    const tensor = this.#memory.subarray(this.#used, (this.#used += sizeBytes));
    tensor.set(wholeMemory().subarray(address, address + sizeBytes));
    return tensor;
  }
}
