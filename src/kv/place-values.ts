import {
  keyRowBytes,
  type KvLayout,
  numberBytes,
  sameLayout,
  type SequenceState,
  valueRowBytes,
} from '../engine/sequence-state.ts';
import { ArenaScratch, JoinedState } from './arena-cells.ts';
import { wholeMemory } from './cell-arena.ts';
import { cutCells } from './cut-cells.ts';
import { kernelChoice, type Kernels, wasm } from './kernels.ts';

/** The place of a block's values among those of a state. */
export interface ValuePlace {
  /** Addresses of the values of all cells of the state, one a layer. */
  readonly addresses: readonly number[];
  /** Cells of the state. */
  readonly cells: number;
  /** The cell of the state at which the block begins. */
  readonly start: number;
}

/**
 * Puts the values of a block into a state: in one piece, or, where values are transposed, a piece into the row of each
 * dimension.
 * @param sources addresses of the values of `cells` cells in the arena, one a layer
 */
export function placeValues(
  {
    sources,
    cells,
    layout,
  }: { readonly sources: readonly number[]; readonly cells: number; readonly layout: KvLayout },
  { addresses, cells: stateCells, start }: ValuePlace,
  kernels: Kernels = kernelChoice().kernels,
): void {
  const cellBytes = valueRowBytes(layout);
  const sizeBytes = cells * cellBytes;
  if (!layout.valuesTransposed) {
    addresses.forEach((address, layer) => {
      wholeMemory().copyWithin(address + start * cellBytes, sources[layer]!, sources[layer]! + sizeBytes);
    });
    return;
  }
  const elementBytes = numberBytes(layout.valueType);
  const targets = addresses.map((address) => address + start * elementBytes);
  kernels.spreadRows({ sources, targets, sizeBytes }, cells * elementBytes, stateCells * elementBytes);
}

/**
 * The first cells of a state as a state of their own. Of a joined state it is a copy in the arena, until it is disposed of,
 * since an engine imports several such beginnings in turn.
 * @throws RangeError where there are fewer cells, and for none
 */
export function firstCells(state: SequenceState, count: number): SequenceState {
  const cells = state.positions.length;
  if (!(state instanceof JoinedState) || !Number.isInteger(count) || count < 1 || count > cells) {
    return cutCells(state, 0, count);
  }
  const { layout, positions, tokenIds } = state;
  const first = new JoinedState({ layout, positions: positions.slice(0, count), tokenIds: tokenIds.slice(0, count) });
  state.keysAt.forEach((from, layer) => {
    wholeMemory().copyWithin(first.keysAt[layer]!, from, from + count * keyRowBytes(layout));
  });
  // Transposed values have a row a dimension; others are one row.
  const rows = layout.valuesTransposed ? layout.heads * layout.headDimension : 1;
  const rowBytes = valueRowBytes(layout) / rows;
  state.valuesAt.forEach((from, layer) => {
    wasm.gatherRows(from, rows, cells * rowBytes, first.valuesAt[layer]!, count * rowBytes);
  });
  return first;
}

/**
 * Writes cells over those of a state, in place. Tokens and positions must be the same.
 * @param at the cell of the state at which they begin
 * @throws RangeError for cells of another layout, token or position, and beyond the end
 */
export function replaceCells(state: SequenceState, cells: SequenceState, at: number): void {
  const { layout, positions, tokenIds } = state;
  const count = cells.positions.length;
  const isSame =
    cells.positions.every((position, index) => position === positions[at + index]) &&
    cells.tokenIds.every((token, index) => token === tokenIds[at + index]);
  if (!sameLayout(layout, cells.layout) || !isSame) {
    throw new RangeError(`${count} cells are not those of the state from cell ${at} on`);
  }
  state.keys.forEach((keys, layer) => keys.set(cells.keys[layer]!, at * keyRowBytes(layout)));
  if (state instanceof JoinedState) {
    using scratch = new ArenaScratch();
    const sources = scratch.place(cells).valuesAt;
    placeValues({ sources, cells: count, layout }, { addresses: state.valuesAt, cells: positions.length, start: at });
    return;
  }
  const rows = layout.valuesTransposed ? layout.heads * layout.headDimension : 1;
  const rowBytes = valueRowBytes(layout) / rows;
  state.values.forEach((values, layer) => {
    const from = cells.values[layer]!;
    for (let row = 0; row < rows; row++) {
      const piece = from.subarray(row * count * rowBytes, (row + 1) * count * rowBytes);
      values.set(piece, (row * positions.length + at) * rowBytes);
    }
  });
}
