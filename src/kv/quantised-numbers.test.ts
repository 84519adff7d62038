import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KvLayout } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/store-type.ts';
import { quantise, quantisedBytes } from './quantised-numbers.ts';
import { RestoredTensors } from './restored-tensors.ts';
import { WorkMemory } from './work-memory.ts';

function restore(bytes: Uint8Array, type: QuantisedType, count: number): Float32Array {
  const numbers = { keyType: 'F32', valueType: 'F32', valuesTransposed: false } as const;
  const layout: KvLayout = { layers: 1, heads: 1, headDimension: count, ...numbers };
  using work = new WorkMemory();
  const tensors = new RestoredTensors(layout, 1, type, work);
  return new Float32Array(tensors.keys(bytes.subarray(0, tensors.atRestBytes)).slice().buffer);
}

/** Made by llama.cpp's own Python package; see its note. */
const ggml = JSON.parse(readFileSync(new URL('../../test/fixtures/ggml-quantised.json', import.meta.url), 'utf8')) as {
  readonly numbers: readonly number[];
} & Readonly<Record<(typeof quantisedTypes)[number], { readonly bytes: string; readonly restored: readonly number[] }>>;
const numbers = Float32Array.from(ggml.numbers);

describe.each(quantisedTypes)('%s', (type) => {
  it('has the bytes of ggml, and stands for the numbers that ggml reads', () => {
    const bytes = quantise(numbers, type);
    expect(Buffer.from(bytes).toString('hex')).toBe(ggml[type].bytes);
    expect([...restore(bytes, type, numbers.length)]).toEqual(ggml[type].restored);
  });

  it('moves no number by more than half a step, or by one step where a level is missing', () => {
    const restored = restore(quantise(numbers, type), type, numbers.length);
    for (let start = 0; start < numbers.length; start += 32) {
      const largest = Math.max(...numbers.slice(start, start + 32).map(Math.abs));
      const step = type === 'q8_0' ? largest / 127 / 2 : largest / 8;
      for (let at = start; at < start + 32; at++) {
        expect(Math.abs(restored[at]! - numbers[at]!)).toBeLessThanOrEqual(step + largest * 2 ** -10);
      }
    }
  });

  it('ends a block that is not full with zeros, which do not come back', () => {
    const some = numbers.slice(0, 41);
    const bytes = quantise(some, type);
    expect(bytes).toHaveLength(quantisedBytes(41, type));
    expect(bytes).toHaveLength(quantisedBytes(64, type));
    expect(restore(bytes, type, 41)).toHaveLength(41);
    expect([...restore(bytes, type, 32)]).toEqual(ggml[type].restored.slice(0, 32));
  });
});
