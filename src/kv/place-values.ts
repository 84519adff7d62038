import { type KvLayout, numberBytes, valueRowBytes } from '../engine/kv-layout.ts';
import { wholeMemory } from './kernel-memory.ts';
import { HALF_VECTOR_BYTES, kernels } from './vector-kernels.ts';
import { VECTOR_BYTES } from './wasm-assembler.ts';

/** Values of all cells of a state in one layer, in the memory of the kernels. */
export interface StateValues {
  readonly address: number;
  readonly cells: number;
}

/**
 * Puts the values of a block beside those of the others, as the layout has them: behind one another, or, transposed, a
 * piece in the row of each dimension.
 * @param source address of the values of `cells` cells in one layer, in the memory of the kernels
 * @param start the cell of the state at which the block begins
 */
export function placeValues(source: number, cells: number, target: StateValues, start: number, layout: KvLayout): void {
  const cellBytes = valueRowBytes(layout);
  const end = source + cells * cellBytes;
  if (!layout.valuesTransposed) {
    wholeMemory().copyWithin(target.address + start * cellBytes, source, end);
    return;
  }
  const elementBytes = numberBytes(layout.valueType);
  const rowBytes = cells * elementBytes;
  spreadOf(rowBytes)(source, end, rowBytes, target.address + start * elementBytes, target.cells * elementBytes);
}

function spreadOf(rowBytes: number): typeof kernels.spreadRows {
  if (rowBytes >= VECTOR_BYTES) return kernels.spreadRows;
  return rowBytes >= HALF_VECTOR_BYTES ? kernels.spreadMediumRows : kernels.spreadShortRows;
}
