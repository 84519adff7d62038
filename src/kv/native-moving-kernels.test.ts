import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nativeKernels } from '../../test/fixtures/both-kernels.ts';
import { scattered } from '../../test/fixtures/plain-keys.ts';
import { numberBytes, type NumberType } from '../engine/sequence-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import type { MovingKernels } from './moving-kernels.ts';
import { keyRotation, rotateKeys } from './rotate-keys.ts';
import { wasmMovingKernels } from './wasm-moving-kernels.ts';
import { WorkMemory } from './work-memory.ts';

const FILL = 0xa5;

/** Bytes of `targetBytes` after the kernels have run on a source that holds the bytes; what they threw instead. */
function outcomeOf(
  kernels: MovingKernels,
  bytes: Uint8Array,
  targetBytes: number,
  run: (kernels: MovingKernels, source: number, target: number) => void,
): Buffer | string {
  using memory = new WorkMemory();
  const [source, target] = [memory.take(bytes.length), memory.take(targetBytes)];
  wholeMemory().set(bytes, source);
  wholeMemory().fill(FILL, target, target + targetBytes);
  try {
    run(kernels, source, target);
  } catch (error) {
    return (error as Error).message;
  }
  return Buffer.from(wholeMemory().slice(target, target + targetBytes));
}

function isSame(one: Buffer | string | undefined, other: Buffer | string | undefined): boolean {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : one !== undefined && one === other;
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
        const [expected, found] = [wasmMovingKernels, nativeKernels].map((of) =>
          outcomeOf(of, bytes, layers * sizeBytes + 64, (kernels, source, target) => {
            const starts = Array.from({ length: layers }, (_, layer) => layer * sizeBytes);
            rotateKeys(
              {
                sources: starts.map((start) => source + start),
                targets: starts.map((start) => target + offset + start),
                sizeBytes,
              },
              keyRotation(rotary, head, distance, kernels),
            );
          }),
        );
        expect(isSame(expected, found)).toBe(true);
        outcomes[typeof found === 'string' ? 'refused' : 'rotated']++;
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
      const [expected, found] = [wasmMovingKernels, nativeKernels].map((of) =>
        outcomeOf(of, new Uint8Array(numbers.buffer), numbers.byteLength, (kernels, source, target) => {
          const moves = { sources: [source], targets: [target], sizeBytes: numbers.byteLength };
          rotateKeys(moves, keyRotation(rotary, { headDimension: 16, keyType }, distance, kernels));
        }),
      );
      expect(found).toEqual(expected);
      expect(typeof found === 'string').toBe(isRefused);
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
        const [expected, found] = [wasmMovingKernels, nativeKernels].map((of) =>
          outcomeOf(of, bytesOf(2 * sizeBytes, seed, false), 2 * layerBytes + 100, (kernels, source, target) => {
            const sources = [source, source + sizeBytes];
            const targets = [target + offset, target + offset + layerBytes];
            kernels.spreadRows({ sources, targets, sizeBytes }, rowBytes, targetRowBytes);
          }),
        );
        expect(isSame(expected, found)).toBe(true);
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
    const kernel = nativeKernels.rotation(head);
    const moves = { sources: [0, source()], targets: [128, target()], sizeBytes: 128 };
    expect(() => kernel.rotate(moves, 0)).toThrow('keys lie outside of the memory');
  });

  test('values outside of the memory', () => {
    const moves = { sources: [0], targets: [memoryEnd() - 1_000], sizeBytes: 100 };
    expect(() => nativeKernels.spreadRows(moves, 10, 111)).toThrow('values lie outside of the memory');
    expect(() => nativeKernels.spreadRows(moves, 30, 111)).toThrow('values are no whole rows');
  });

  test('keys that are no whole vectors, and targets that are not as many as the sources', () => {
    const kernel = nativeKernels.rotation(head);
    expect(() => kernel.rotate({ sources: [0], targets: [128], sizeBytes: 100 }, 0)).toThrow(
      'keys are no whole vectors',
    );
    expect(() => kernel.rotate({ sources: [0], targets: [], sizeBytes: 128 }, 0)).toThrow('a rotation takes memory');
    const tooMany = nativeKernels.rotation({ ...head, dimensions: 72 });
    expect(() => tooMany.rotate({ sources: [0], targets: [128], sizeBytes: 128 }, 0)).toThrow('is not known');
  });
});
