import { describe, expect, test } from 'vitest';
import { decodeHalf, encodeHalf, rotateHead, scattered } from '../../test/fixtures/plain-keys.ts';
import { turnedKeys } from '../../test/fixtures/turned-keys.ts';
import { keyRotation, type KeyShape, rotateKeys } from './rotate-keys.ts';
import { lendMemory } from './vector-kernels.ts';

function shapeOf(pairing: 'norm' | 'neox', change: Partial<KeyShape['rope']> = {}): KeyShape {
  return {
    headDimension: 64,
    rope: {
      base: 10_000,
      frequencyScale: 1,
      dimensions: 64,
      pairing,
      scaling: 'none',
      frequencyFactors: undefined,
      ...change,
    },
  };
}

describe.each(['norm', 'neox'] as const)('%s pairs', (pairing) => {
  const shapes: [string, KeyShape][] = [
    ['a whole head', shapeOf(pairing)],
    ['a part of a head', shapeOf(pairing, { dimensions: 24 })],
    ['linear scaling', shapeOf(pairing, { scaling: 'linear', frequencyScale: 0.25, base: 500_000 })],
    [
      'frequency factors',
      shapeOf(pairing, { frequencyFactors: Array.from({ length: 32 }, (_, pair) => 1 + pair / 4) }),
    ],
    ['the smallest head', { headDimension: 8, rope: { ...shapeOf(pairing).rope, dimensions: 8 } }],
  ];

  // More heads than fit into the workspace at once.
  test.each(shapes)('are turned as by plain arithmetic, bit by bit: %s', (_, shape) => {
    const heads = 5_000;
    const numbers = Uint16Array.from({ length: heads * shape.headDimension }, (_number, index) => {
      // All exponents below that of 32768, subnormal numbers among them.
      return Math.floor(scattered(index) * 0x7800) | (index % 3 === 0 ? 0x8000 : 0);
    });
    const turned = turnedKeys(bytesOf(numbers), keyRotation(shape, 137, 'F16'));
    const expected = new Uint16Array(numbers.length);
    for (let start = 0; start < numbers.length; start += shape.headDimension) {
      const head = [...numbers.subarray(start, start + shape.headDimension)].map(decodeHalf);
      expected.set(rotateHead(head, shape, 137).map(encodeHalf), start);
    }
    expect(Buffer.compare(turned, bytesOf(expected))).toBe(0);
    expect(Buffer.compare(turned, bytesOf(numbers))).not.toBe(0);
  });

  test('are turned in 32-bit floats as well', () => {
    const shape = shapeOf(pairing);
    const numbers = Float32Array.from({ length: 640 }, (_, index) => scattered(index) - 0.5);
    const turned = new Float32Array(turnedKeys(bytesOf(numbers), keyRotation(shape, -9, 'F32')).buffer);
    for (let start = 0; start < numbers.length; start += 64) {
      const head = [...numbers.subarray(start, start + 64)];
      expect([...turned.subarray(start, start + 64)]).toEqual(rotateHead(head, shape, -9));
    }
  });

  test('come back when they are turned back, but for two roundings', () => {
    const shape = shapeOf(pairing);
    const original = Array.from({ length: 6_400 }, (_, index) => decodeHalf(encodeHalf(4 * (scattered(index) - 0.5))));
    const numbers = Uint16Array.from(original, encodeHalf);
    const there = turnedKeys(bytesOf(numbers), keyRotation(shape, 700, 'F16'));
    const back = new Uint16Array(turnedKeys(there, keyRotation(shape, -700, 'F16')).buffer);
    const largest = original.reduce((most, x, index) => Math.max(most, Math.abs(x - decodeHalf(back[index]!))), 0);
    expect(largest).toBeLessThan(2 * 2 ** -9);
  });
});

test('every finite half-precision number that can be turned survives a turn by nothing', () => {
  const numbers = Uint16Array.from({ length: 0x79a8 * 2 }, (_, bits) => (bits >> 1) | ((bits & 1) << 15));
  const shape = { ...shapeOf('norm', { dimensions: 8 }), headDimension: 8 };
  const turned = new Uint16Array(turnedKeys(bytesOf(numbers), keyRotation(shape, 0, 'F16')).buffer);
  // Only the sign of zero may change: 0 − 0 is 0.
  const differing = [...numbers.keys()].filter((index) => turned[index] !== numbers[index]);
  expect(differing.map((index) => numbers[index]! & 0x7fff).filter((magnitude) => magnitude !== 0)).toEqual([]);
});

test.each([
  ['infinity', 0x7c00],
  ['NaN', 0xfe01],
  ['a number too large', 0x7bff],
])('refuses %s among the keys', (_, bits) => {
  for (const distance of [0, 3, 40]) {
    const numbers = new Uint16Array(64).fill(0x3c00);
    numbers[17] = bits;
    const rotation = keyRotation(shapeOf('neox'), distance, 'F16');
    expect(() => turnedKeys(bytesOf(numbers), rotation)).toThrow('not finite');
  }
  const singles = new Float32Array(64).fill(NaN, 9, 10);
  const rotation = keyRotation(shapeOf('norm'), 5, 'F32');
  expect(() => turnedKeys(bytesOf(singles), rotation)).toThrow('not finite');
});

test('turns keys at any address, and only them', () => {
  const shape = shapeOf('neox');
  const rotation = keyRotation(shape, 41, 'F16');
  const numbers = Uint16Array.from({ length: 640 }, (_, index) => Math.floor(scattered(index) * 0x7800));
  const expected = turnedKeys(bytesOf(numbers), rotation);
  for (const offset of [1, 4, 28]) {
    const lent = lendMemory(expected.length + 64).fill(7);
    rotateKeys(bytesOf(numbers), lent.subarray(offset, offset + expected.length), rotation);
    expect(Buffer.compare(lent.subarray(offset, offset + expected.length), expected)).toBe(0);
    expect([...lent.subarray(0, offset), ...lent.subarray(offset + expected.length)].every((byte) => byte === 7)).toBe(
      true,
    );
  }
});

test('refuses a target that the kernels cannot reach', () => {
  const rotation = keyRotation(shapeOf('neox'), 1, 'F16');
  expect(() => rotateKeys(new Uint8Array(128), new Uint8Array(128), rotation)).toThrow('memory of the kernels');
});

test.each(['yarn', 'longrope'])('refuses %s by name', (scaling) => {
  expect(() => keyRotation(shapeOf('neox', { scaling }), 1, 'F16')).toThrow(
    expect.objectContaining({
      code: 'bad-model',
      message: `keys with ${scaling} RoPE scaling cannot be re-positioned`,
    }),
  );
});

test('refuses a rotation of dimensions that do not come in eights', () => {
  expect(() => keyRotation(shapeOf('norm', { dimensions: 12 }), 1, 'F16')).toThrow('12 of 64 dimensions');
});

function bytesOf(numbers: Uint16Array | Float32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
