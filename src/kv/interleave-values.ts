import { numberBytes, type NumberType } from '../llm/state-format.ts';
import { scaleInWorkspace, SLACK_BYTES } from './scale-values.ts';
import { kernels, workspace } from './vector-kernels.ts';

/** Small enough to stay in the cache of a core. */
const CHUNK_BYTES = 262_144;

/** Values of one block in one layer, [dimension][its cells], and what they are multiplied by. */
export interface TransposedValues {
  readonly values: Uint8Array;
  readonly alpha: number;
}

/**
 * Puts the values of blocks side by side, scaled: how blocks are joined where values lie as [dimension][cell].
 * @param target [dimension][all cells of all blocks], `rowBytes` for each cell
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
  const chunkRows = Math.min(rows, Math.max(1, Math.floor(CHUNK_BYTES / targetRowBytes)));
  const stagedAt = chunkRows * targetRowBytes;
  const memory = workspace(2 * stagedAt + SLACK_BYTES);
  for (let row = 0; row < rows; row += chunkRows) {
    const count = Math.min(chunkRows, rows - row);
    let column = 0;
    for (const { values, alpha } of blocks) {
      const blockRowBytes = values.length / rows;
      const end = stagedAt + count * blockRowBytes;
      memory.set(values.subarray(row * blockRowBytes, (row + count) * blockRowBytes), stagedAt);
      scaleInWorkspace(stagedAt, end, type, alpha);
      kernels.spreadRows(stagedAt, end, blockRowBytes, column, targetRowBytes);
      column += blockRowBytes;
    }
    target.set(memory.subarray(0, count * targetRowBytes), row * targetRowBytes);
  }
}
