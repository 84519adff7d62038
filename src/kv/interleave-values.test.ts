import { expect, test } from 'vitest';
import { decodeHalf, encodeHalf, scattered } from '../../test/fixtures/plain-keys.ts';
import { interleaveValues } from './interleave-values.ts';
import { lendMemory } from './vector-kernels.ts';

/** Finite numbers of any kind. */
function values(rows: number, cells: number, seed: number): Uint16Array {
  return Uint16Array.from({ length: rows * cells }, (_, index) => Math.floor(scattered(index + seed) * 0x7800));
}

// One row alone is larger than the workspace in the second case; in the others but the first, rows fall into chunks.
test.each([
  [16, [1, 50, 3, 1], 1],
  [3, [9, 400_000, 200_001], 1],
  [400, [20, 1500, 7], 1],
  [16, [1, 50, 3, 1], 0.3],
  [3, [9, 400_000, 1], 0.3],
  [400, [20, 1500, 7], 0.3],
])('%i rows of blocks with %j cells come to lie side by side, times %d', (rows, cells, alpha) => {
  const blocks = cells.map((count, index) => values(rows, count, 1000 * index));
  const total = cells.reduce((sum, count) => sum + count, 0);
  const target = lendMemory(rows * total * 2);
  const parts = blocks.map((block) => ({ values: new Uint8Array(block.buffer), alpha }));
  const scaled = (bits: number): number => encodeHalf(Math.fround(decodeHalf(bits) * Math.fround(alpha)));
  interleaveValues(target, parts, rows * 2, 'F16');
  const expected = new Uint16Array(rows * total);
  for (let row = 0; row < rows; row++) {
    let column = row * total;
    blocks.forEach((block, index) => {
      const line = block.subarray(row * cells[index]!, (row + 1) * cells[index]!);
      expected.set(alpha === 1 ? line : line.map(scaled), column);
      column += cells[index]!;
    });
  }
  expect(Buffer.compare(target, new Uint8Array(expected.buffer))).toBe(0);
});
