import { numberBytes, type NumberType } from '../llm/state-format.ts';
import { scaleInWorkspace, scaleValues, SLACK_BYTES } from './scale-values.ts';
import { addressOf, kernels, workspace } from './vector-kernels.ts';

/** Values of one block in one layer, [dimension][its cells], and what they are multiplied by. */
export interface TransposedValues {
  readonly values: Uint8Array;
  readonly alpha: number;
}

/**
 * Puts the values of blocks side by side, scaled: how blocks are joined where values lie as [dimension][cell].
 * @param target [dimension][all cells of all blocks], `rowBytes` for each cell, in memory that was lent
 * @throws BenchError `bad-state` for values that are to be scaled and are not finite
 */
export function interleaveValues(
  target: Uint8Array,
  blocks: readonly TransposedValues[],
  rowBytes: number,
  type: NumberType,
): void {
  const rows = rowBytes / numberBytes(type);
  const targetRowBytes = target.length / rows;
  const memory = workspace();
  const partsBytes = 2 * blocks.length * Uint32Array.BYTES_PER_ELEMENT;
  const rowsAtOnce = Math.floor((memory.length - partsBytes - SLACK_BYTES) / targetRowBytes);
  if (rowsAtOnce < 1) {
    placeLongRows(target, blocks, rows, type);
    return;
  }
  const address = addressOf(target);
  const parts = new Uint32Array(memory.buffer, 0, 2 * blocks.length);
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const end = Math.min(row + rowsAtOnce, rows);
    let staged = partsBytes;
    blocks.forEach(({ values, alpha }, index) => {
      const blockRowBytes = values.length / rows;
      const chunk = values.subarray(row * blockRowBytes, end * blockRowBytes);
      memory.set(chunk, staged);
      parts.set([staged, blockRowBytes], 2 * index);
      staged += chunk.length;
      scaleInWorkspace(staged - chunk.length, staged, type, alpha);
    });
    kernels.gatherRows(0, partsBytes, address + row * targetRowBytes, address + end * targetRowBytes);
  }
}

/** The same where the workspace does not hold a row. */
function placeLongRows(target: Uint8Array, blocks: readonly TransposedValues[], rows: number, type: NumberType): void {
  let offset = 0;
  for (let row = 0; row < rows; row++) {
    for (const { values, alpha } of blocks) {
      const length = values.length / rows;
      const place = target.subarray(offset, (offset += length));
      scaleValues(values.subarray(row * length, (row + 1) * length), place, type, alpha);
    }
  }
}
