import { describe, expect, it } from 'vitest';
import { decodeHalf, scattered } from '../../test/fixtures/plain-keys.ts';
import { plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import type { NumberType } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/store-type.ts';
import { halfOf } from './half-of.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './kernel-memory.ts';
import { readQuantised, writeQuantised } from './quantised-file.ts';
import { restoreKernel } from './quantised-kernels.ts';
import { transposeNumbers } from './transpose-numbers.ts';

describe.each(quantisedTypes)('%s', (type) => {
  it('restores every scale and every level as plain arithmetic does, bit by bit', () => {
    const blockBytes = type === 'q8_0' ? 34 : 18;
    // All scales in half precision that are finite, of both signs, subnormal numbers among them.
    const scales = Array.from({ length: 0x7c00 }, (_, bits) => bits | (bits % 2 === 0 ? 0 : 0x8000));
    const blocks = Uint8Array.from({ length: scales.length * blockBytes }, (_, at) => Math.floor(256 * scattered(at)));
    scales.forEach((bits, block) => blocks.set([bits & 0xff, bits >> 8], block * blockBytes));
    const restored = new Uint16Array(restoredBytes(blocks, type, scales.length).buffer);
    const expected = scales.flatMap((bits, block) =>
      levelsOf(blocks.subarray(block * blockBytes + 2, (block + 1) * blockBytes), type).map((level) =>
        halfOf(level * decodeHalf(bits)),
      ),
    );
    expect(Buffer.compare(new Uint8Array(restored.buffer), new Uint8Array(Uint16Array.from(expected).buffer))).toBe(0);
  });

  it.each([
    ['infinity', 0x7c00],
    ['no number', 0xfe01],
  ])('refuses %s as a scale', (_, bits) => {
    const state = plainState({ ...smallLayout, headDimension: 32 }, [1, 2, 3]);
    const bytes = writeQuantised(state, type);
    for (const at of [40 + 8 * 3, bytes.length - (type === 'q8_0' ? 34 : 18)]) {
      const wrong = bytes.slice();
      wrong.set([bits & 0xff, bits >> 8], at);
      expect(() => readQuantised(wrong)).toThrow(expect.objectContaining({ code: 'bad-state' }));
    }
  });
});

describe.each<[NumberType, number]>([
  ['F16', 2],
  ['F32', 4],
])('numbers of %s', (type, numberBytes) => {
  it.each([
    [1, 8],
    [7, 16],
    [8, 8],
    [9, 24],
    [50, 128],
    [13, 12],
  ])('%i rows of %i columns are transposed, and nothing else is written', (rows, columns) => {
    const sizeBytes = rows * columns * numberBytes;
    const address = takeMemory(2 * sizeBytes + 64)!;
    const memory = wholeMemory()
      .subarray(address, address + 2 * sizeBytes + 64)
      .fill(7);
    const source = Uint8Array.from({ length: sizeBytes }, (_, at) => Math.floor(256 * scattered(at)));
    memory.set(source);
    transposeNumbers({ address, rows, columns }, type, address + sizeBytes + 32);
    const numberOf = (from: Uint8Array, at: number): number[] => [
      ...from.subarray(at * numberBytes, (at + 1) * numberBytes),
    ];
    const target = memory.subarray(sizeBytes + 32, 2 * sizeBytes + 32);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        expect(numberOf(target, column * rows + row)).toEqual(numberOf(source, row * columns + column));
      }
    }
    expect([...memory.subarray(sizeBytes, sizeBytes + 32), ...memory.subarray(2 * sizeBytes + 32)]).toEqual(
      new Array(64).fill(7),
    );
    giveMemoryBack(address, 2 * sizeBytes + 64);
  });
});

/** Restored in half precision. */
function restoredBytes(blocks: Uint8Array, type: QuantisedType, count: number): Uint8Array {
  const sizeBytes = count * 32 * 2;
  const address = takeMemory(blocks.length + sizeBytes)!;
  wholeMemory().set(blocks, address);
  const target = address + blocks.length;
  expect(restoreKernel(type, 'F16')(address, address + blocks.length, target)).toBe(0);
  const restored = wholeMemory().slice(target, target + sizeBytes);
  giveMemoryBack(address, blocks.length + sizeBytes);
  return restored;
}

/** The whole numbers of a block. */
function levelsOf(bytes: Uint8Array, type: QuantisedType): number[] {
  if (type === 'q8_0') return [...new Int8Array(bytes.slice().buffer)];
  return [...[...bytes].map((byte) => (byte & 0xf) - 8), ...[...bytes].map((byte) => (byte >> 4) - 8)];
}
