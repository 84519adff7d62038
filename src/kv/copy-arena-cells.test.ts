import { describe, expect, it, test } from 'vitest';
import { bothKernels } from '../../test/fixtures/both-kernels.ts';
import { copyOf } from '../../test/fixtures/moved-cells.ts';
import { keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import type { Rotary, SequenceState } from '../engine/sequence-state.ts';
import { cutCells, firstLayers } from './cut-cells.ts';
import { joinBlocks } from './join-blocks.ts';
import { scattered } from '../../test/fixtures/plain-keys.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './wasm-arena.ts';
import { firstCells, placeValues, replaceCells } from './copy-arena-cells.ts';

/** Rows shorter than a vector, as long, and of every remainder. */
const shapes = [
  { dimensions: 16, cells: [1, 50, 3, 1], valuesTransposed: true },
  { dimensions: 3, cells: [9, 40_000, 7, 8, 16, 17], valuesTransposed: true },
  { dimensions: 400, cells: [20, 15, 31, 32, 33], valuesTransposed: true },
  { dimensions: 16, cells: [1, 50, 3, 1], valuesTransposed: false },
];
const cases = bothKernels.flatMap((kernels) => shapes.map((shape) => ({ ...shape, kernels })));

test.each(cases)('values come to lie side by side: $kernels.name, $cells, transposed $valuesTransposed', (given) => {
  const { dimensions, cells, valuesTransposed, kernels } = given;
  const total = cells.reduce((sum, count) => sum + count, 0);
  const numbers = Uint16Array.from({ length: 2 * dimensions * total }, (_, index) => 65_536 * scattered(index));
  const layout = { ...smallLayout, layers: 1, heads: 1, headDimension: dimensions, valuesTransposed };
  const address = takeMemory(numbers.byteLength)!;
  const target = address + numbers.byteLength / 2;
  wholeMemory().set(new Uint8Array(numbers.buffer), address);
  const expected = new Uint16Array(dimensions * total);
  let start = 0;
  for (const count of cells) {
    const place = { addresses: [target], cells: total, start };
    placeValues({ sources: [address + 2 * dimensions * start], cells: count, layout }, place, kernels);
    for (let index = 0; index < dimensions * count; index++) {
      const [row, column] = [Math.floor(index / count), index % count];
      const place = valuesTransposed ? row * total + start + column : dimensions * start + index;
      expected[place] = numbers[dimensions * start + index]!;
    }
    start += count;
  }
  const placed = wholeMemory().subarray(target, target + expected.byteLength);
  expect(Buffer.compare(placed, new Uint8Array(expected.buffer))).toBe(0);
  giveMemoryBack(address, numbers.byteLength);
});

const rotary: Rotary = { base: 10_000, scale: 1, dimensions: 16, pairing: 'neox', factors: null };
const ids = [1, 5, 6, 20, 21, 22, 23, 30, 31, 32, 33, 34, 35, 36, 37, 38];

test('the first layers of a joined state can be read after the arena has grown', () => {
  const header = plainState(smallLayout, [1, 2, 3]);
  using joined = joinBlocks(header, [], { rotary });
  const first = firstLayers(joined, 1);
  const sizeBytes = wholeMemory().length;
  const address = takeMemory(sizeBytes)!;
  expect([first.keys, first.values]).toEqual([[header.keys[0]], [header.values[0]]]);
  giveMemoryBack(address, sizeBytes);
});

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

const tokens = [1, 5, 6, 20, 21, 22, 23];

describe.each([true, false])('replaceCells with values transposed: %s', (valuesTransposed) => {
  const layout = { ...smallLayout, valuesTransposed };

  it('writes the cells in their place, and changes no other byte', () => {
    const state = plainState(layout, tokens);
    const before = plainState(layout, tokens);
    const others = plainState(layout, tokens, { seed: 9 });
    replaceCells(state, cutCells(others, 3, 5), 3);
    for (let layer = 0; layer < layout.layers; layer++) {
      for (const cell of tokens.keys()) {
        const from = cell === 3 || cell === 4 ? others : before;
        expect(keysOfCell(state, layer, cell)).toEqual(keysOfCell(from, layer, cell));
        expect(valuesOfCell(state, layer, cell)).toEqual(valuesOfCell(from, layer, cell));
      }
      expect(keysOfCell(state, layer, 3)).not.toEqual(keysOfCell(before, layer, 3));
    }
  });

  it('refuses cells of other tokens, other positions, and beyond the end', () => {
    const state = plainState(layout, tokens);
    const cells = cutCells(state, 3, 5);
    const moved = { ...cells, positions: cells.positions.map((at) => at + 1) };
    const foreign = cutCells(plainState({ ...layout, layers: 1 }, tokens), 3, 5);
    expect(() => replaceCells(state, cells, 2)).toThrow(RangeError);
    expect(() => replaceCells(state, cells, 6)).toThrow('2 cells are not those of the state from cell 6 on');
    for (const other of [moved, foreign]) expect(() => replaceCells(state, other, 3)).toThrow(RangeError);
  });
});
