import { numberBytes, type NumberType } from '../engine/sequence-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import { transposeKernel } from './transpose-kernel.ts';

/** A matrix of numbers, its rows behind one another, in the memory of the kernels. */
export interface Matrix {
  readonly address: number;
  readonly rows: number;
  readonly columns: number;
}

/** Writes the columns of a matrix as rows to another address, apart from it. */
export function transposeNumbers({ address, rows, columns }: Matrix, type: NumberType, target: number): void {
  const bytes = numberBytes(type);
  const kernel = transposeKernel(type, rows, columns);
  if (kernel !== undefined) {
    kernel(address, rows, columns * bytes, target);
    return;
  }
  const memory = wholeMemory();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const from = address + (row * columns + column) * bytes;
      memory.copyWithin(target + (column * rows + row) * bytes, from, from + bytes);
    }
  }
}
