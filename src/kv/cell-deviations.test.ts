import { describe, expect, it } from 'vitest';
import { decodeHalf, fromBytes, toBytes } from '../../test/fixtures/plain-keys.ts';
import { plainState } from '../../test/fixtures/plain-states.ts';
import { type KvLayout, ownedState, type SequenceState } from '../engine/sequence-state.ts';
import { cellDeviations } from './cell-deviations.ts';
import { readNumbers } from '../base/float16.ts';

const shape = { layers: 2, heads: 2, headDimension: 4 };
const CELLS = 3;

it('numbers of either type are read exactly, wherever their bytes begin', () => {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, index) => index);
  const bytes = new Uint8Array(bits.byteLength + 1);
  bytes.set(new Uint8Array(bits.buffer), 1);
  expect([...readNumbers(bytes.subarray(1), 'F16')]).toEqual(Array.from(bits, decodeHalf));
  const floats = Float32Array.of(-1.5, 2 ** -140, 7e30);
  expect(readNumbers(new Uint8Array(floats.buffer), 'F32')).toEqual(floats);
});

describe.each<Pick<KvLayout, 'keyType' | 'valueType' | 'valuesTransposed'>>([
  { keyType: 'F16', valueType: 'F16', valuesTransposed: true },
  { keyType: 'F16', valueType: 'F16', valuesTransposed: false },
  { keyType: 'F32', valueType: 'F32', valuesTransposed: false },
])('of cells of %j', (types) => {
  const layout: KvLayout = { ...shape, ...types };
  const state = plainState(layout, [5, 6, 7]);

  /** The state with the fourth number of one cell set to 3 in the keys or the values of a layer, and how far that moved it. */
  function planted(kind: 'keys' | 'values', layer: number, cell: number): readonly [SequenceState, number] {
    const type = kind === 'keys' ? layout.keyType : layout.valueType;
    const isTransposed = kind === 'values' && layout.valuesTransposed;
    const at = isTransposed ? 3 * CELLS + cell : cell * shape.heads * shape.headDimension + 3;
    const numbers = fromBytes(state[kind][layer]!, type);
    const tensors = state[kind].with(layer, toBytes(numbers.with(at, 3), type));
    return [ownedState({ ...state, [kind]: tensors }), 3 - numbers[at]!];
  }

  it.each(['keys', 'values'] as const)('the planted one deviates by its own distance alone, in %s', (kind) => {
    const [other, distance] = planted(kind, 1, 2);
    expect(distance).toBeGreaterThan(1);
    expect([...cellDeviations(state, other)]).toEqual([0, 0, distance ** 2]);
    expect([...cellDeviations(other, state, 1)]).toEqual([0, 0, distance ** 2]);
  });

  it('layers below the first requested one are left out', () => {
    const [other, distance] = planted('keys', 0, 1);
    expect([...cellDeviations(state, other)]).toEqual([0, distance ** 2, 0]);
    expect([...cellDeviations(state, other, 1)]).toEqual([0, 0, 0]);
  });

  it('states with different numbers of cells are refused', () => {
    expect(() => cellDeviations(state, plainState(layout, [5, 6]))).toThrow(RangeError);
  });
});
