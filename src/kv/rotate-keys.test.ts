import { describe, expect, test } from 'vitest';
import { decodeHalf, encodeHalf, rotateHead, scattered } from '../../test/fixtures/plain-keys.ts';
import { turnedKeys } from '../../test/fixtures/turned-keys.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './kernel-memory.ts';
import { keyRotation, type KeyShape, rotateKeys } from './rotate-keys.ts';

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
    ['the smallest head', { headDimension: 16, rope: { ...shapeOf(pairing).rope, dimensions: 16 } }],
  ];

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
  const shape = { ...shapeOf('norm', { dimensions: 16 }), headDimension: 16 };
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

test('turns the keys of each layer, at any address, and only them', () => {
  const rotation = keyRotation(shapeOf('neox'), 41, 'F16');
  const numbers = bytesOf(Uint16Array.from({ length: 640 }, (_, index) => Math.floor(scattered(index) * 0x7800)));
  const expected = turnedKeys(numbers, rotation);
  const sizeBytes = 4 * numbers.length + 256;
  const start = takeMemory(sizeBytes)!;
  for (const offset of [1, 4, 28]) {
    const memory = wholeMemory()
      .subarray(start, start + sizeBytes)
      .fill(7);
    memory.set(numbers, 0);
    memory.set(numbers, numbers.length);
    const places = [2 * numbers.length + offset, 3 * numbers.length + 2 * offset];
    rotateKeys(
      [start, start + numbers.length],
      places.map((place) => start + place),
      numbers.length,
      rotation,
    );
    const rest = [...memory.subarray(2 * numbers.length)];
    for (const place of places.toReversed()) {
      expect(Buffer.compare(memory.subarray(place, place + numbers.length), expected)).toBe(0);
      rest.splice(place - 2 * numbers.length, numbers.length);
    }
    expect(rest).toEqual(new Array(256).fill(7));
  }
  giveMemoryBack(start, sizeBytes);
});

test('refuses keys that are no whole heads', () => {
  expect(() => rotateKeys([0], [0], 100, keyRotation(shapeOf('neox'), 1, 'F16'))).toThrow('no multiple of a head');
});

test.each(['yarn', 'longrope'])('refuses %s by name', (scaling) => {
  expect(() => keyRotation(shapeOf('neox', { scaling }), 1, 'F16')).toThrow(
    expect.objectContaining({
      code: 'bad-model',
      message: `keys with ${scaling} RoPE scaling cannot be re-positioned`,
    }),
  );
});

test.each([8, 20])('refuses a rotation of %i dimensions', (dimensions) => {
  expect(() => keyRotation(shapeOf('norm', { dimensions }), 1, 'F16')).toThrow(`${dimensions} of 64 dimensions`);
});

function bytesOf(numbers: Uint16Array | Float32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
