import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nativeKernels } from '../../test/fixtures/both-kernels.ts';
import { decodeHalf, encodeHalf, scattered } from '../../test/fixtures/plain-keys.ts';
import { numberBytes, type NumberType, numberTypes } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/prefill-record.ts';
import { ArenaScratch } from './arena-cells.ts';
import { wholeMemory } from './wasm-arena.ts';
import { encodeFloat16 } from '../base/float16.ts';
import { chooseKernels, GROUP, groupBytes, type Kernels, tryKernels, wasm, wasmKernels } from './kernels.ts';
import { keyRotation, rotateKeys } from './rotate-keys.ts';

const FILL = 0xa5;

/**
 * Runs both kernels on a source that holds the bytes, and expects the same bytes at the target, or the same error.
 * @returns what the native ones threw
 */
function expectSame(
  bytes: Uint8Array,
  targetBytes: number,
  run: (kernels: Kernels, source: number, target: number) => void,
): string | undefined {
  const [expected, found] = [wasmKernels, nativeKernels].map((kernels): Buffer | string => {
    using memory = new ArenaScratch();
    const [source, target] = [memory.take(bytes.length), memory.take(targetBytes)];
    wholeMemory().set(bytes, source);
    wholeMemory().fill(FILL, target, target + targetBytes);
    try {
      run(kernels, source, target);
    } catch (error) {
      return (error as Error).message;
    }
    return Buffer.from(wholeMemory().slice(target, target + targetBytes));
  });
  if (typeof found === 'string' || typeof expected === 'string') expect(found).toBe(expected);
  else expect(Buffer.compare(found!, expected!)).toBe(0);
  return typeof found === 'string' ? found : undefined;
}

/** Any bits, or those of numbers that are small enough to be rotated. */
function bytesOf(length: number, seed: number, areSmall: boolean): Uint8Array {
  const halves = Uint16Array.from({ length: Math.ceil(length / 2) }, (_, index) => {
    const bits = Math.floor(scattered(seed + index) * 0x10000);
    return areSmall ? bits & 0xbfff : bits;
  });
  return new Uint8Array(halves.buffer, 0, length);
}

const rotations = fc.record({
  pairing: fc.constantFrom('norm' as const, 'neox' as const),
  keyType: fc.constantFrom('F16' as const, 'F32' as const),
  dimensions: fc.integer({ min: 2, max: 24 }).map((eights) => 8 * eights),
  rest: fc.integer({ min: 0, max: 9 }),
  vectors: fc.integer({ min: 1, max: 40 }),
  layers: fc.integer({ min: 1, max: 3 }),
  offset: fc.integer({ min: 0, max: 5 }),
  distance: fc.integer({ min: -5_000, max: 100_000 }),
  seed: fc.nat(2 ** 20),
  areSmall: fc.boolean(),
});

describe('native kernels give the bits of WebAssembly', () => {
  test('in rotations of any shape, of any numbers, and refuse the same', () => {
    const outcomes = { rotated: 0, refused: 0 };
    fc.assert(
      fc.property(rotations, ({ pairing, keyType, dimensions, rest, vectors, layers, offset, distance, ...given }) => {
        const head = { headDimension: dimensions + rest, keyType };
        const sizeBytes = vectors * head.headDimension * numberBytes(keyType);
        const rotary = { base: 10_000, scale: 1, dimensions, pairing, factors: null };
        const bytes = bytesOf(layers * sizeBytes, given.seed, given.areSmall);
        const refused = expectSame(bytes, layers * sizeBytes + 64, (kernels, source, target) => {
          const starts = Array.from({ length: layers }, (_, layer) => layer * sizeBytes);
          const sources = starts.map((start) => source + start);
          const targets = starts.map((start) => target + offset + start);
          rotateKeys({ sources, targets, sizeBytes }, keyRotation(rotary, head, distance, kernels));
        });
        outcomes[refused === undefined ? 'rotated' : 'refused']++;
      }),
      { numRuns: 250, seed: 1 },
    );
    expect(Math.min(outcomes.rotated, outcomes.refused)).toBeGreaterThan(50);
  });

  test.each<[string, NumberType, distance: number, bits: number, isRefused: boolean]>([
    ['the largest half that can be rotated', 'F16', 0, 0x79a7, false],
    ['the next half', 'F16', 0, 0x79a8, true],
    ['the same below 0', 'F16', 0, 0xf9a8, true],
    ['the largest half', 'F16', 0, 0x7bff, true],
    ['an infinite half', 'F16', 0, 0x7c00, true],
    ['no number', 'F16', 0, 0xfe01, true],
    ['the largest float', 'F32', 0, 0x7f7fffff, false],
    ['floats whose sum is infinite', 'F32', 1, 0x7f7fffff, true],
    ['an infinite float', 'F32', 0, 0xff800000, true],
    ['no float', 'F32', 0, 0x7fc00000, true],
  ])('at the limit: %s', (_, keyType, distance, bits, isRefused) => {
    const numbers = keyType === 'F16' ? new Uint16Array(16).fill(bits) : new Uint32Array(16).fill(bits);
    for (const pairing of ['norm', 'neox'] as const) {
      const rotary = { base: 10_000, scale: 1, dimensions: 16, pairing, factors: null };
      const refused = expectSame(new Uint8Array(numbers.buffer), numbers.byteLength, (kernels, source, target) => {
        const moves = { sources: [source], targets: [target], sizeBytes: numbers.byteLength };
        rotateKeys(moves, keyRotation(rotary, { headDimension: 16, keyType }, distance, kernels));
      });
      expect(refused !== undefined).toBe(isRefused);
    }
  });

  test('in rows of any length, and write nothing between them', () => {
    const shape = fc.record({
      rowBytes: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 201, max: 3_000 })),
      rows: fc.integer({ min: 1, max: 40 }),
      gap: fc.integer({ min: 0, max: 90 }),
      offset: fc.integer({ min: 0, max: 70 }),
      seed: fc.nat(2 ** 20),
    });
    fc.assert(
      fc.property(shape, ({ rowBytes, rows, gap, offset, seed }) => {
        const targetRowBytes = rowBytes + gap;
        const layerBytes = rows * targetRowBytes;
        const sizeBytes = rows * rowBytes;
        expectSame(bytesOf(2 * sizeBytes, seed, false), 2 * layerBytes + 100, (kernels, source, target) => {
          const sources = [source, source + sizeBytes];
          const targets = [target + offset, target + offset + layerBytes];
          kernels.spreadRows({ sources, targets, sizeBytes }, rowBytes, targetRowBytes);
        });
      }),
      { numRuns: 250, seed: 1 },
    );
  });
});

describe('native kernels give the bits of WebAssembly where they', () => {
  const any = fc.record({ seed: fc.nat(2 ** 20), areSmall: fc.boolean(), layers: fc.integer({ min: 1, max: 3 }) });

  test('scale numbers', () => {
    const given = fc.record({ count: fc.integer({ min: 1, max: 100 }), factor: fc.double({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(
        any,
        given,
        fc.constantFrom(...numberTypes),
        ({ seed, areSmall, layers }, { count, factor }, type) => {
          const sizeBytes = count * numberBytes(type);
          expectSame(
            bytesOf(layers * sizeBytes, seed, areSmall),
            layers * sizeBytes + 64,
            (kernels, source, target) => {
              const starts = Array.from({ length: layers }, (_, layer) => layer * sizeBytes);
              const moves = {
                sources: starts.map((at) => source + at),
                targets: starts.map((at) => target + at),
                sizeBytes,
              };
              if (!kernels.scale(type, moves, factor)) throw new Error('not finite');
            },
          );
        },
      ),
      { numRuns: 250, seed: 1 },
    );
  });

  test('restore quantised numbers', () => {
    const types = fc.tuple(fc.constantFrom(...quantisedTypes), fc.constantFrom(...numberTypes));
    fc.assert(
      fc.property(any, types, fc.integer({ min: 1, max: 20 }), ({ seed, layers }, [quantised, type], groups) => {
        const sizeBytes = groups * groupBytes[quantised];
        const restoredBytes = groups * GROUP * numberBytes(type);
        expectSame(bytesOf(layers * sizeBytes, seed, false), layers * restoredBytes, (kernels, source, target) => {
          const sources = Array.from({ length: layers }, (_, layer) => source + layer * sizeBytes);
          const targets = Array.from({ length: layers }, (_, layer) => target + layer * restoredBytes);
          if (!kernels.restore(quantised, type, { sources, targets, sizeBytes })) throw new Error('not finite');
        });
      }),
      { numRuns: 250, seed: 1 },
    );
  });
});

describe('native kernels refuse', () => {
  const head = { pairing: 'neox', type: 'F16', dimensions: 64, headDimension: 64 } as const;
  const memoryEnd = (): number => wholeMemory().length;

  test.each([
    { keys: 'that begin in memory', source: () => memoryEnd() - 127, target: () => 0 },
    { keys: 'that would go there', source: () => 0, target: () => memoryEnd() - 127 },
  ])('keys outside of the memory: $keys', ({ source, target }) => {
    const moves = { sources: [0, source()], targets: [128, target()], sizeBytes: 128 };
    expect(() => nativeKernels.rotate(head, moves, 0)).toThrow('keys lie outside of the memory');
  });

  test('values outside of the memory, what is no whole rows or vectors, and targets unlike the sources', () => {
    const values = { sources: [0], targets: [memoryEnd() - 1_000], sizeBytes: 100 };
    expect(() => nativeKernels.spreadRows(values, 10, 111)).toThrow('values lie outside of the memory');
    expect(() => nativeKernels.spreadRows(values, 30, 111)).toThrow('values are no whole rows');
    const moves = { sources: [0], targets: [128], sizeBytes: 128 };
    expect(() => nativeKernels.rotate(head, { ...moves, sizeBytes: 100 }, 0)).toThrow('keys are no whole vectors');
    expect(() => nativeKernels.rotate(head, { ...moves, targets: [] }, 0)).toThrow('a rotation takes memory');
    expect(() => nativeKernels.rotate({ ...head, dimensions: 72 }, moves, 0)).toThrow('is not known');
    const outside = { sources: [0], targets: [memoryEnd() - 63], sizeBytes: 34 };
    expect(() => nativeKernels.restore('q8_0', 'F16', outside)).toThrow('quantised numbers lie outside of the memory');
    expect(() => nativeKernels.restore('q4_0', 'F16', outside)).toThrow('quantised numbers are no whole groups');
    expect(() => nativeKernels.scale('F16', { ...outside, sizeBytes: 64 }, 1)).toThrow(
      'values lie outside of the memory',
    );
    expect(() => nativeKernels.scale('F32', outside, 1)).toThrow('values are no whole numbers');
  });
});

test('native kernels that give the right bits are chosen, those in WebAssembly on request, and no others', () => {
  const chosen = ['', 'native', 'wasm'].map((name) => chooseKernels(name));
  expect(chosen.map(({ kernels }) => kernels.name)).toEqual(['native', 'native', 'wasm']);
  expect(chosen.map(({ rejectedBackends }) => rejectedBackends)).toEqual([null, null, 'DKI_BENCH_KV_KERNELS is wasm']);
  expect(() => chooseKernels('fast')).toThrow(
    expect.objectContaining({ code: 'bad-option', hint: 'DKI_BENCH_KV_KERNELS is one of native, wasm' }),
  );
});

test('kernels with another bit are refused', () => {
  const turnedFurther: Kernels = {
    ...nativeKernels,
    rotate: (shape, moves, angles) => {
      new Float32Array(wholeMemory().buffer, angles, 1)[0]! *= 1 + 1e-4;
      return nativeKernels.rotate(shape, moves, angles);
    },
  };
  expect(() => tryKernels(turnedFurther)).toThrow('a rotation of norm F32 keys differs');
  expect(() => tryKernels({ ...nativeKernels, rotate: () => false })).toThrow('a rotation refused good keys');
  const packing: Kernels = {
    ...nativeKernels,
    spreadRows: (moves, rowBytes) => nativeKernels.spreadRows(moves, rowBytes, rowBytes),
  };
  expect(() => tryKernels(packing)).toThrow('a copy of rows of 3 bytes differs');
  const doubling: Kernels = { ...nativeKernels, scale: (type, moves) => nativeKernels.scale(type, moves, 2) };
  expect(() => tryKernels(doubling)).toThrow('F32 values are scaled otherwise');
  const shifted: Kernels = {
    ...nativeKernels,
    restore: (quantised, type, moves) =>
      nativeKernels.restore(quantised, type, { ...moves, sources: moves.sources.map((source) => source + 2) }),
  };
  expect(() => tryKernels(shifted)).toThrow('q8_0 numbers are restored as other F32 numbers');
  expect(() => tryKernels(nativeKernels)).not.toThrow();
});

function viewOf(numbers: Uint16Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** All of the 65,536 numbers that are finite. */
const finite = Uint16Array.from({ length: 65_536 }, (_, bits) => bits).filter((bits) => (bits & 0x7c00) !== 0x7c00);

function scaledBytes(values: Uint8Array, type: NumberType, alpha: number): Uint8Array<ArrayBuffer> {
  using scratch = new ArenaScratch();
  const address = scratch.take(values.length + 32);
  wholeMemory().fill(FILL, address, address + values.length + 32);
  wholeMemory().set(values, address);
  const inPlace = { sources: [address], targets: [address], sizeBytes: values.length };
  if (!wasmKernels.scale(type, inPlace, alpha)) throw new Error('not finite');
  const end = address + values.length;
  expect([...wholeMemory().subarray(end, end + 32)]).toEqual(new Array(32).fill(FILL));
  return wholeMemory().slice(address, end);
}

function scaled(numbers: Uint16Array, alpha: number): Uint16Array {
  return new Uint16Array(scaledBytes(viewOf(numbers), 'F16', alpha).buffer);
}

describe('scaling', () => {
  // 1/2, 1/4 and 1/4096 make subnormal numbers and ties; 1 + 2^-23 is no tie by the last bit that there is.
  test.each([0, -0.5, 0.5, 0.25, 0.4, 1 / 4096, 3 / 4096, 0.1, 0.999, 1 - 2 ** -11, 1 - 2 ** -24, -1])(
    'rounds every finite half-precision number times %f to the nearest, ties to even',
    (alpha) => {
      const factor = Math.fround(alpha);
      const expected = finite.map((bits) => encodeHalf(Math.fround(decodeHalf(bits) * factor)));
      expect(Buffer.compare(viewOf(scaled(finite, alpha)), viewOf(expected))).toBe(0);
    },
  );

  test('scales up, and refuses products that are not finite', () => {
    const small = finite.filter((bits) => Math.abs(decodeHalf(bits)) < 50_000);
    const expected = small.map((bits) => encodeHalf(Math.fround(decodeHalf(bits) * Math.fround(1.2))));
    expect(Buffer.compare(viewOf(scaled(small, 1.2)), viewOf(expected))).toBe(0);
    expect(() => scaled(finite, 1.2)).toThrow('not finite');
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

test.each(quantisedTypes)(
  'WebAssembly restores every scale and level of %s as plain arithmetic, bit by bit',
  (type) => {
    const blockBytes = type === 'q8_0' ? 34 : 18;
    // All scales in half precision that are finite, of both signs, subnormal numbers among them.
    const scales = Array.from({ length: 0x7c00 }, (_, bits) => bits | (bits % 2 === 0 ? 0 : 0x8000));
    const blocks = Uint8Array.from({ length: scales.length * blockBytes }, (_, at) => Math.floor(256 * scattered(at)));
    scales.forEach((bits, block) => blocks.set([bits & 0xff, bits >> 8], block * blockBytes));
    const expected = scales.flatMap((bits, block) =>
      levelsOf(blocks.subarray(block * blockBytes + 2, (block + 1) * blockBytes), type).map((level) =>
        encodeFloat16(level * decodeHalf(bits)),
      ),
    );
    using scratch = new ArenaScratch();
    const source = scratch.take(blocks.length);
    const target = scratch.take(2 * expected.length);
    wholeMemory().set(blocks, source);
    expect(wasm[`restore_${type}_F16`](source, source + blocks.length, target)).toBe(0);
    const restored = wholeMemory().subarray(target, target + 2 * expected.length);
    expect(Buffer.compare(restored, viewOf(Uint16Array.from(expected)))).toBe(0);
  },
);

test.each(
  (['F16', 'F32'] as const).flatMap((type) =>
    ['1x8', '7x16', '8x8', '9x24', '50x128', '13x12', '11x13'].map((size) => {
      const [rows, columns] = size.split('x').map(Number);
      return { type, rows: rows!, columns: columns! };
    }),
  ),
)('$rows rows of $columns numbers of $type are transposed, and nothing else is written', ({ type, rows, columns }) => {
  const size = numberBytes(type);
  const sizeBytes = rows * columns * size;
  using scratch = new ArenaScratch();
  const source = scratch.take(sizeBytes);
  const target = scratch.take(sizeBytes + 64);
  const numbers = Uint8Array.from({ length: sizeBytes }, (_, at) => Math.floor(256 * scattered(at)));
  wholeMemory().set(numbers, source);
  const memory = wholeMemory().subarray(target, target + sizeBytes + 64);
  memory.fill(FILL);
  wasm[`transpose${type}`](source, rows, columns, target + 32);
  const expected = new Uint8Array(sizeBytes + 64).fill(FILL);
  for (let at = 0; at < rows * columns; at++) {
    const place = (at % columns) * rows + Math.floor(at / columns);
    expected.set(numbers.subarray(at * size, (at + 1) * size), 32 + place * size);
  }
  expect(Buffer.compare(memory, expected)).toBe(0);
});

/** The whole numbers of a block. */
function levelsOf(bytes: Uint8Array, type: QuantisedType): number[] {
  if (type === 'q8_0') return [...new Int8Array(bytes.slice().buffer)];
  return [...[...bytes].map((byte) => (byte & 0xf) - 8), ...[...bytes].map((byte) => (byte >> 4) - 8)];
}
