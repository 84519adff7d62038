import { describe, expect, test } from 'vitest';
import { bothKernels } from '../../test/fixtures/both-kernels.ts';
import { decodeHalf, encodeHalf, rotateHead, scattered } from '../../test/fixtures/plain-keys.ts';
import { rotatedKeys } from '../../test/fixtures/rotated-keys.ts';
import type { Rotary } from '../engine/sequence-state.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './wasm-arena.ts';
import { keyRotation, rotateKeys } from './rotate-keys.ts';

const half = { headDimension: 64, keyType: 'F16' } as const;
const single = { headDimension: 64, keyType: 'F32' } as const;

function rotaryOf(pairing: Rotary['pairing'], change: Partial<Rotary> = {}): Rotary {
  return { base: 10_000, scale: 1, dimensions: 64, pairing, factors: null, ...change };
}

const pairingsByKernels = bothKernels.flatMap((kernels) =>
  (['norm', 'neox'] as const).map((pairing) => ({ pairing, name: kernels.name, kernels })),
);

describe.each(pairingsByKernels)('$pairing pairs, $name kernels,', ({ pairing, kernels }) => {
  const rotations: [string, Rotary, headDimension: number][] = [
    ['a whole head', rotaryOf(pairing), 64],
    ['a part of a head', rotaryOf(pairing, { dimensions: 24 }), 64],
    ['linear scaling', rotaryOf(pairing, { scale: 0.25, base: 500_000 }), 64],
    ['frequency factors', rotaryOf(pairing, { factors: Array.from({ length: 32 }, (_, pair) => 1 + pair / 4) }), 64],
    ['the smallest head', rotaryOf(pairing, { dimensions: 16 }), 16],
  ];

  test.each(rotations)('are rotated as by plain arithmetic, bit by bit: %s', (_, rotary, headDimension) => {
    const heads = 5_000;
    const numbers = Uint16Array.from({ length: heads * headDimension }, (_number, index) => {
      // All exponents below that of 32768, subnormal numbers among them.
      return Math.floor(scattered(index) * 0x7800) | (index % 3 === 0 ? 0x8000 : 0);
    });
    const rotated = rotatedKeys(bytesOf(numbers), keyRotation(rotary, { headDimension, keyType: 'F16' }, 137, kernels));
    const expected = new Uint16Array(numbers.length);
    for (let start = 0; start < numbers.length; start += headDimension) {
      const head = [...numbers.subarray(start, start + headDimension)].map(decodeHalf);
      expected.set(rotateHead(head, rotary, 137).map(encodeHalf), start);
    }
    expect(Buffer.compare(rotated, bytesOf(expected))).toBe(0);
    expect(Buffer.compare(rotated, bytesOf(numbers))).not.toBe(0);
  });

  test('are rotated in 32-bit floats as well', () => {
    const rotary = rotaryOf(pairing);
    const numbers = Float32Array.from({ length: 640 }, (_, index) => scattered(index) - 0.5);
    const rotated = new Float32Array(rotatedKeys(bytesOf(numbers), keyRotation(rotary, single, -9, kernels)).buffer);
    for (let start = 0; start < numbers.length; start += 64) {
      const head = [...numbers.subarray(start, start + 64)];
      expect([...rotated.subarray(start, start + 64)]).toEqual(rotateHead(head, rotary, -9));
    }
  });
});

test.each(bothKernels)(
  'every finite half-precision number that can be rotated survives a rotation by nothing: $name',
  (kernels) => {
    const numbers = Uint16Array.from({ length: 0x79a8 * 2 }, (_, bits) => (bits >> 1) | ((bits & 1) << 15));
    const rotation = keyRotation(rotaryOf('norm', { dimensions: 16 }), { ...half, headDimension: 16 }, 0, kernels);
    const rotated = new Uint16Array(rotatedKeys(bytesOf(numbers), rotation).buffer);
    // Only the sign of zero may change: 0 − 0 is 0.
    const differing = [...numbers.keys()].filter((index) => rotated[index] !== numbers[index]);
    expect(differing.map((index) => numbers[index]! & 0x7fff).filter((magnitude) => magnitude !== 0)).toEqual([]);
  },
);

test.each([
  ['infinity', 0x7c00],
  ['NaN', 0xfe01],
  ['a number too large', 0x7bff],
])('refuses %s among the keys', (_, bits) => {
  for (const kernels of bothKernels) {
    for (const distance of [0, 3, 40]) {
      const numbers = new Uint16Array(64).fill(0x3c00);
      numbers[17] = bits;
      const rotation = keyRotation(rotaryOf('neox'), half, distance, kernels);
      expect(() => rotatedKeys(bytesOf(numbers), rotation)).toThrow('not finite');
    }
    const singles = new Float32Array(64).fill(NaN, 9, 10);
    const rotation = keyRotation(rotaryOf('norm'), single, 5, kernels);
    expect(() => rotatedKeys(bytesOf(singles), rotation)).toThrow('not finite');
  }
});

test.each(bothKernels)('rotates the keys of each layer, at any address, and only them: $name', (kernels) => {
  const rotation = keyRotation(rotaryOf('neox'), half, 41, kernels);
  const numbers = bytesOf(Uint16Array.from({ length: 640 }, (_, index) => Math.floor(scattered(index) * 0x7800)));
  const expected = rotatedKeys(numbers, rotation);
  const sizeBytes = 4 * numbers.length + 256;
  const start = takeMemory(sizeBytes)!;
  for (const offset of [1, 4, 28]) {
    const memory = wholeMemory().subarray(start, start + sizeBytes);
    memory.fill(7);
    memory.set(numbers, 0);
    memory.set(numbers, numbers.length);
    const places = [2 * numbers.length + offset, 3 * numbers.length + 2 * offset];
    const sources = [start, start + numbers.length];
    const targets = places.map((place) => start + place);
    rotateKeys({ sources, targets, sizeBytes: numbers.length }, rotation);
    const rest = [...memory.subarray(2 * numbers.length)];
    for (const place of places.toReversed()) {
      expect(Buffer.compare(memory.subarray(place, place + numbers.length), expected)).toBe(0);
      rest.splice(place - 2 * numbers.length, numbers.length);
    }
    expect(rest).toEqual(new Array(256).fill(7));
  }
  giveMemoryBack(start, sizeBytes);
});

test('refuses keys that are not whole heads', () => {
  const moves = { sources: [0], targets: [0], sizeBytes: 100 };
  expect(() => rotateKeys(moves, keyRotation(rotaryOf('neox'), half, 1))).toThrow('not a multiple of a head');
});

test.each([8, 20])('refuses a rotation of %i dimensions', (dimensions) => {
  expect(() => keyRotation(rotaryOf('norm', { dimensions }), half, 1)).toThrow(
    expect.objectContaining({ code: 'bad-model', message: expect.stringContaining(`${dimensions} of 64 dimensions`) }),
  );
});

function bytesOf(numbers: Uint16Array | Float32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
