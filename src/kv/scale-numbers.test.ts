import { describe, expect, test } from 'vitest';
import { decodeHalf, encodeHalf } from '../../test/fixtures/plain-keys.ts';
import type { NumberType } from '../engine/sequence-state.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './kernel-memory.ts';
import { scaleNumbers, SLACK_BYTES } from './scale-numbers.ts';

/** All of the 65,536 numbers that are finite. */
const finite = Uint16Array.from({ length: 65_536 }, (_, bits) => bits).filter((bits) => (bits & 0x7c00) !== 0x7c00);

function scaledBytes(values: Uint8Array, type: NumberType, alpha: number): Uint8Array<ArrayBuffer> {
  const sizeBytes = values.length + SLACK_BYTES;
  const address = takeMemory(sizeBytes)!;
  try {
    wholeMemory()
      .fill(0xff, address, address + sizeBytes)
      .set(values, address);
    scaleNumbers(address, values.length, type, alpha, 'values');
    return wholeMemory().slice(address, address + values.length);
  } finally {
    giveMemoryBack(address, sizeBytes);
  }
}

function scaled(numbers: Uint16Array, alpha: number): Uint16Array {
  return new Uint16Array(scaledBytes(bytesOf(numbers), 'F16', alpha).buffer);
}

describe('scaleNumbers', () => {
  // 1/2, 1/4 and 1/4096 make subnormal numbers and ties; 1 + 2^-23 is no tie by the last bit that there is.
  test.each([0, -0.5, 0.5, 0.25, 0.4, 1 / 4096, 3 / 4096, 0.1, 0.999, 1 - 2 ** -11, 1 - 2 ** -24, -1])(
    'rounds every finite half-precision number times %f to the nearest, ties to even',
    (alpha) => {
      const factor = Math.fround(alpha);
      const expected = finite.map((bits) => encodeHalf(Math.fround(decodeHalf(bits) * factor)));
      expect(Buffer.compare(bytesOf(scaled(finite, alpha)), bytesOf(expected))).toBe(0);
    },
  );

  test('scales up as long as there is room', () => {
    const small = finite.filter((bits) => Math.abs(decodeHalf(bits)) < 50_000);
    const expected = small.map((bits) => encodeHalf(Math.fround(decodeHalf(bits) * Math.fround(1.2))));
    expect(Buffer.compare(bytesOf(scaled(small, 1.2)), bytesOf(expected))).toBe(0);
    expect(() => scaled(finite, 1.2)).toThrow('values that are not finite numbers, or too large');
  });

  test.each([1, 7, 8, 9, 17])('works on %i numbers', (count) => {
    const numbers = new Uint16Array(count).fill(encodeHalf(3));
    expect([...scaled(numbers, 0.5)].map(decodeHalf)).toEqual(new Array(count).fill(1.5));
  });

  test.each([0x7c00, 0xfc00, 0x7e00])('refuses %i, which is not finite', (bits) => {
    expect(() => scaled(Uint16Array.of(0x3c00, bits), 0.5)).toThrow('not finite');
  });

  test('scales 32-bit floats', () => {
    const values = Float32Array.of(1, -2, 1e-40, 3e38, 0.1);
    const halves = new Float32Array(scaledBytes(new Uint8Array(values.buffer), 'F32', 0.5).buffer);
    expect([...halves]).toEqual([0.5, -1, Math.fround(1e-40) / 2, 1.5e38, 0.05].map(Math.fround));
    const large = new Uint8Array(Float32Array.of(3e38).buffer);
    expect(() => scaledBytes(large, 'F32', 2)).toThrow('not finite');
  });
});

function bytesOf(numbers: Uint16Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
