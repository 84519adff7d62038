import { describe, expect, it } from 'vitest';
import { keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import { cutCells } from './cut-cells.ts';
import { replaceCells } from './replace-cells.ts';

const ids = [1, 5, 6, 20, 21, 22, 23];

describe.each([true, false])('with values transposed: %s', (valuesTransposed) => {
  const layout = { ...smallLayout, valuesTransposed };

  it('writes the cells in their place, and changes no other byte', () => {
    const state = plainState(layout, ids);
    const before = plainState(layout, ids);
    const others = plainState(layout, ids, { seed: 9 });
    replaceCells(state, cutCells(others, 3, 5), 3);
    for (let layer = 0; layer < layout.layers; layer++) {
      for (const cell of ids.keys()) {
        const from = cell === 3 || cell === 4 ? others : before;
        expect(keysOfCell(state, layer, cell)).toEqual(keysOfCell(from, layer, cell));
        expect(valuesOfCell(state, layer, cell)).toEqual(valuesOfCell(from, layer, cell));
      }
      expect(keysOfCell(state, layer, 3)).not.toEqual(keysOfCell(before, layer, 3));
    }
  });

  it('refuses cells of other tokens, other positions, and beyond the end', () => {
    const state = plainState(layout, ids);
    const cells = cutCells(state, 3, 5);
    expect(() => replaceCells(state, cells, 2)).toThrow(RangeError);
    expect(() => replaceCells(state, cells, 6)).toThrow('2 cells are not those of the state from cell 6 on');
    expect(() => replaceCells(state, { ...cells, positions: cells.positions.map((at) => at + 1) }, 3)).toThrow(
      RangeError,
    );
    expect(() => replaceCells(state, cutCells(plainState({ ...layout, layers: 1 }, ids), 3, 5), 3)).toThrow(RangeError);
  });
});
