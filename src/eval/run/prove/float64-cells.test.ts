import { describe, expect, it } from 'vitest';
import { movedCells } from '../../../../test/fixtures/moved-cells.ts';
import { decodeHalf } from '../../../../test/fixtures/plain-keys.ts';
import { plainState } from '../../../../test/fixtures/plain-states.ts';
import type { KvLayout, Rotary } from '../../../engine/sequence-state.ts';
import { cellDifference, movedCell, float64Cells, scaledCell, toState, wrongCells } from './float64-cells.ts';

const shape = { layers: 2, heads: 2, headDimension: 16 };
const bound = { firstKeys: 1e-3, deeper: 1e-3 };

describe.each<Pick<KvLayout, 'keyType' | 'valueType' | 'valuesTransposed'>>([
  { keyType: 'F16', valueType: 'F16', valuesTransposed: true },
  { keyType: 'F16', valueType: 'F16', valuesTransposed: false },
  { keyType: 'F32', valueType: 'F32', valuesTransposed: false },
])('cells of %j', (types) => {
  const layout: KvLayout = { ...shape, ...types };
  const state = plainState(layout, [5, 6, 7], { start: 4 });

  it('are read as numbers and written as the same bytes', () => {
    const again = toState(float64Cells(state), layout);
    expect(again.keys.map((tensor) => [...tensor])).toEqual(state.keys.map((tensor) => [...tensor]));
    expect(again.values.map((tensor) => [...tensor])).toEqual(state.values.map((tensor) => [...tensor]));
    expect([...again.positions]).toEqual([4, 5, 6]);
  });

  it.each(['norm', 'neox'] as const)('are moved as RoPE says, %s', (pairing) => {
    const rotary: Rotary = { base: 10_000, scale: 0.5, pairing, dimensions: 8, factors: [1, 2, 1, 4] };
    const moved = float64Cells(state).map((cell) => movedCell(cell, cell.position + 9, rotary, layout));
    const expected = float64Cells(movedCells(state, rotary, 9));
    expect(wrongCells(expected, moved, bound)).toBeNull();
    expect(wrongCells(float64Cells(state), moved, bound)).toBe('cell 0 at position 4 in place of 13');
  });

  it('are scaled in their values alone', () => {
    const cells = float64Cells(state);
    const scaled = cells.map((cell) => scaledCell(cell, 0.5));
    expect(cellDifference(scaled, cells)).toMatchObject({ firstKeys: 0, keys: 0 });
    expect(cellDifference(scaled, cells).values).toBeCloseTo(0.5, 9);
  });
});

it('every half-precision number is written as its own bits', () => {
  const half = { keyType: 'F16', valueType: 'F16', valuesTransposed: false } as const;
  const layout: KvLayout = { layers: 1, heads: 1, headDimension: 16, ...half };
  const bits = Uint16Array.from(Array(2 ** 16).keys()).filter((pattern) => Number.isFinite(decodeHalf(pattern)));
  const bytes = new Uint8Array(bits.buffer);
  const positions = Int32Array.from(Array(bits.length / 16).keys());
  const tensors = { keys: [bytes], values: [bytes], [Symbol.dispose]: () => undefined };
  const state = { layout, positions, tokenIds: positions, ...tensors };
  expect(Buffer.from(toState(float64Cells(state), layout).keys[0]!).equals(bytes)).toBe(true);
});

it('names the first difference, and never accepts NaN', () => {
  const layout: KvLayout = { ...shape, keyType: 'F32', valueType: 'F32', valuesTransposed: false };
  const cells = float64Cells(plainState(layout, [5, 6]));
  const changed = (kind: 'keys' | 'values', layer: number, number: number) =>
    cells.map((cell, index) => {
      const numbers = cell[kind].map((one, at) => (index === 1 && at === layer ? one.with(3, number) : one));
      return { ...cell, [kind]: numbers };
    });
  expect(wrongCells(cells.slice(1), cells, bound)).toBe('1 cells in place of 2');
  expect(wrongCells(changed('keys', 0, 9), cells, bound)).toMatch(/^keys of layer 0 are those of other tokens/);
  expect(wrongCells(changed('keys', 1, 9), cells, bound)).toMatch(/^keys differ/);
  expect(wrongCells(changed('values', 1, 9), cells, bound)).toMatch(/^values differ/);
  expect(wrongCells(changed('values', 1, NaN), cells, bound)).toMatch(/^values differ/);
});
