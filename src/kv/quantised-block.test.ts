import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import type { KvLayout } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/prefill-record.ts';
import { evictCells } from './evict-cells.ts';
import { quantise, quantisedCellBytes, readQuantised, writeQuantised } from './quantised-block.ts';

/** Made by llama.cpp's own Python package; see its note. */
const ggml = JSON.parse(readFileSync(new URL('../../test/fixtures/ggml-quantised.json', import.meta.url), 'utf8')) as {
  readonly numbers: readonly number[];
} & Readonly<Record<(typeof quantisedTypes)[number], { readonly bytes: string; readonly restored: readonly number[] }>>;
const numbers = Float32Array.from(ggml.numbers);

/** The numbers that quantised ones stand for: the keys of one head of one cell. */
function restore(quantised: Uint8Array, type: QuantisedType, count: number): Float32Array {
  const types = { keyType: 'F32', valueType: 'F32', valuesTransposed: false } as const;
  const layout: KvLayout = { layers: 1, heads: 1, headDimension: count, ...types };
  const bytes = writeQuantised(plainState(layout, [1]), type);
  bytes.set(quantised, 40 + 8);
  return new Float32Array(readQuantised(bytes).keys[0]!.slice().buffer);
}

const ids = [1, 5, 6, 20, 21];

describe.each(quantisedTypes)('%s', (type) => {
  it.each([true, false])('comes back near what it was, with values transposed: %s', (valuesTransposed) => {
    const layout = { ...smallLayout, headDimension: 48, valuesTransposed };
    const state = plainState(layout, ids, { start: 7 });
    const bytes = writeQuantised(state, type);
    const back = readQuantised(bytes);
    expect(back.layout).toEqual(layout);
    expect([...back.positions]).toEqual([7, 8, 9, 10, 11]);
    expect([...back.tokenIds]).toEqual(ids);
    expect(bytes.length - quantisedCellBytes(layout, ids.length, type)).toBe(40 + 8 * ids.length);
    const step = type === 'q8_0' ? 2 / 254 : 2 / 8;
    for (let layer = 0; layer < layout.layers; layer++) {
      for (const cell of ids.keys()) {
        const before = [...keysOfCell(state, layer, cell).flat(), ...valuesOfCell(state, layer, cell)];
        const after = [...keysOfCell(back, layer, cell).flat(), ...valuesOfCell(back, layer, cell)];
        after.forEach((number, at) => expect(Math.abs(number - before[at]!)).toBeLessThan(step + 0.01));
      }
    }
  });

  it('of one head does not depend on what another holds', () => {
    const state = plainState({ ...smallLayout, headDimension: 16 }, ids);
    const left = evictCells(state, { by: 'knorm', ratio: 0.5 });
    const [whole, part] = [readQuantised(writeQuantised(state, type)), readQuantised(writeQuantised(left, type))];
    const all = ids.map((_, cell) => JSON.stringify(keysOfCell(whole, 0, cell)[1]));
    for (const cell of left.positions.keys()) expect(all).toContain(JSON.stringify(keysOfCell(part, 0, cell)[1]));
  });

  it.each([
    ['keys', NaN],
    ['values', Infinity],
    ['keys', -Infinity],
    ['values', 65_504 * 128],
  ] as const)('refuses %s with %d', (kind, number) => {
    const layout = { ...smallLayout, keyType: 'F32', valueType: 'F32' } as const;
    const state = plainState(layout, ids);
    const { buffer, byteOffset, byteLength } = state[kind][0]!;
    new DataView(buffer, byteOffset, byteLength).setFloat32(4, number, true);
    expect(() => writeQuantised(state, type)).toThrow(expect.objectContaining({ code: 'bad-state' }));
  });

  it('refuses bytes that are cut short, or of another format', () => {
    const bytes = writeQuantised(plainState(smallLayout, ids), type);
    const cutShort = [-1, 20, 0].map((end) => bytes.slice(0, end));
    for (const wrong of [...cutShort, bytes.with(0, 1), bytes.with(36, 9)]) {
      expect(() => readQuantised(wrong)).toThrow(expect.objectContaining({ code: 'bad-state' }));
    }
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

  it('has the bytes of ggml, and stands for the numbers that ggml reads', () => {
    const bytes = quantise(numbers, type);
    expect(Buffer.from(bytes).toString('hex')).toBe(ggml[type].bytes);
    expect([...restore(bytes, type, numbers.length)]).toEqual(ggml[type].restored);
  });

  it('ends a block that is not full with zeros, which do not come back', () => {
    const some = numbers.slice(0, 41);
    const bytes = quantise(some, type);
    expect(bytes).toHaveLength(type === 'q8_0' ? 68 : 36);
    expect(restore(bytes, type, 41)).toHaveLength(41);
    expect([...restore(bytes, type, 41)].slice(0, 32)).toEqual(ggml[type].restored.slice(0, 32));
  });
});
