import { keyRowBytes, numberBytes, sameLayout, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { JoinedState } from './joined-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import { placeValues } from './place-values.ts';
import { WorkMemory } from './work-memory.ts';

/**
 * Writes cells over those of a state, in place; all other bytes of it stay as they are. Tokens and positions must be the same.
 * @param at the cell of the state at which they begin
 * @throws RangeError for cells of another layout, token or position, and beyond the end
 */
export function replaceCells(state: SequenceState, cells: SequenceState, at: number): void {
  const count = cells.positions.length;
  const isSame = ({ tokenIds, positions }: SequenceState): boolean =>
    cells.positions.every((position, index) => position === positions[at + index]) &&
    cells.tokenIds.every((token, index) => token === tokenIds[at + index]);
  if (!sameLayout(state.layout, cells.layout) || !isSame(state)) {
    throw new RangeError(`${count} cells are not those of the state from cell ${at} on`);
  }
  const { layout } = state;
  const keyBytes = keyRowBytes(layout);
  state.keys.forEach((keys, layer) => keys.set(cells.keys[layer]!, at * keyBytes));
  const valueBytes = valueRowBytes(layout);
  if (!layout.valuesTransposed) {
    state.values.forEach((values, layer) => values.set(cells.values[layer]!, at * valueBytes));
    return;
  }
  if (state instanceof JoinedState) {
    replaceJoinedValues(state, cells, at);
    return;
  }
  const bytes = numberBytes(layout.valueType);
  const allCells = state.positions.length;
  state.values.forEach((values, layer) => {
    const from = cells.values[layer]!;
    for (let row = 0; row < valueBytes / bytes; row++) {
      values.set(from.subarray(row * count * bytes, (row + 1) * count * bytes), (row * allCells + at) * bytes);
    }
  });
}

function replaceJoinedValues(state: JoinedState, cells: SequenceState, at: number): void {
  const { layout, positions } = state;
  const count = cells.positions.length;
  using work = new WorkMemory();
  const layerBytes = count * valueRowBytes(layout);
  const source = work.take(layout.layers * layerBytes);
  const sources = cells.values.map((values, layer) => {
    const address = source + layer * layerBytes;
    wholeMemory().set(values, address);
    return address;
  });
  placeValues(sources, count, { addresses: state.valuesAt, cells: positions.length, start: at }, layout);
}
