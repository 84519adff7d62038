import { describe, expect, it } from 'vitest';
import { copyOf, plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import type { Rotary, SequenceState } from '../engine/sequence-state.ts';
import { cutCells } from './cut-cells.ts';
import { firstCells } from './first-cells.ts';
import { joinBlocks } from './join-blocks.ts';
import { replaceCells } from './replace-cells.ts';

const rotary: Rotary = { base: 10_000, scale: 1, dimensions: 16, pairing: 'neox', factors: null };
const ids = [1, 5, 6, 20, 21, 22, 23, 30, 31, 32, 33, 34, 35, 36, 37, 38];

describe.each([
  ['F16', true],
  ['F16', false],
  ['F32', true],
] as const)('of %s, with values transposed: %s', (type, valuesTransposed) => {
  const layout = { ...smallLayout, keyType: type, valueType: type, valuesTransposed };
  /** In memory of the kernels. */
  const joined = (): SequenceState => {
    const block = plainState(layout, ids.slice(4), { start: 4, seed: 3 });
    return joinBlocks(plainState(layout, ids.slice(0, 4)), [{ block, position: 4, alpha: 1 }], { rotary });
  };

  it('the first cells of a joined state are those that are cut out of it', () => {
    using state = joined();
    for (const count of [1, 4, 7, 15, ids.length]) {
      using first = firstCells(state, count);
      expect(copyOf(first)).toEqual(copyOf(cutCells(state, 0, count)));
    }
    for (const count of [0, -1, 1.5, ids.length + 1]) expect(() => firstCells(state, count)).toThrow(RangeError);
    expect(copyOf(firstCells(plainState(layout, ids), 3))).toEqual(copyOf(cutCells(plainState(layout, ids), 0, 3)));
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('%i cells are written into a joined state as into any other', (count) => {
    using state = joined();
    const plain = cutCells(state, 0, ids.length);
    const others = cutCells(plainState(layout, ids, { seed: 9 }), 5, 5 + count);
    replaceCells(plain, others, 5);
    replaceCells(state, others, 5);
    expect(copyOf(state)).toEqual(copyOf(plain));
  });
});
