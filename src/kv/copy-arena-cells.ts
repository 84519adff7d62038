import {
  keyRowBytes,
  type KvLayout,
  sameLayout,
  type SequenceState,
  valueRowBytes,
  valueRows,
} from '../engine/sequence-state.ts';
import { ArenaScratch, JoinedState } from './arena-cells.ts';
import { wholeMemory } from './wasm-arena.ts';
import { cutCells } from './cut-cells.ts';
import { kernelChoice, type Kernels, wasm } from './kernels.ts';

/** Values of a block in the arena. */
export interface BlockValues {
  /** One address per layer. */
  readonly sources: readonly number[];
  readonly cells: number;
  readonly layout: KvLayout;
}

/** Where a block's values go among those of a state. */
export interface ValuePlace {
  /** For each layer, the address of the values of all cells of the state. */
  readonly addresses: readonly number[];
  /** Cells of the state. */
  readonly cells: number;
  /** The cell of the state at which the block begins. */
  readonly start: number;
}

/** Copies the values of a block into a state, row by row: see `valueRows`. */
export function placeValues(
  { sources, cells, layout }: BlockValues,
  { addresses, cells: stateCells, start }: ValuePlace,
  kernels: Kernels = kernelChoice().kernels,
): void {
  const { rows, cellBytes } = valueRows(layout);
  const sizeBytes = rows * cells * cellBytes;
  const targets = addresses.map((address) => address + start * cellBytes);
  if (rows > 1) kernels.spreadRows({ sources, targets, sizeBytes }, cells * cellBytes, stateCells * cellBytes);
  else targets.forEach((to, layer) => wholeMemory().copyWithin(to, sources[layer]!, sources[layer]! + sizeBytes));
}

/**
 * Copies the first cells of a state. The copy of a joined state is in the arena until it is disposed of, because an engine
 * imports many such copies one after another.
 * @throws RangeError if `count` is 0 or larger than the state
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
  const { rows, cellBytes } = valueRows(layout);
  state.valuesAt.forEach((from, layer) => {
    wasm.gatherRows(from, rows, cells * cellBytes, first.valuesAt[layer]!, count * cellBytes);
  });
  return first;
}

/**
 * Overwrites cells of a state in place. Tokens and positions must be the same.
 * @param at index of the first overwritten cell
 * @throws RangeError if layout, tokens or positions differ, or the cells go beyond the end
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
    const layerBytes = count * valueRowBytes(layout);
    const address = scratch.take(layout.layers * layerBytes);
    const sources = cells.values.map((_, layer) => address + layer * layerBytes);
    cells.values.forEach((values, layer) => wholeMemory().set(values, sources[layer]));
    placeValues({ sources, cells: count, layout }, { addresses: state.valuesAt, cells: positions.length, start: at });
    return;
  }
  const { rows, cellBytes } = valueRows(layout);
  state.values.forEach((values, layer) => {
    for (let row = 0; row < rows; row++) {
      const piece = cells.values[layer]!.subarray(row * count * cellBytes, (row + 1) * count * cellBytes);
      values.set(piece, (row * positions.length + at) * cellBytes);
    }
  });
}
