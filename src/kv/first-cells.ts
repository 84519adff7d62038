import { keyRowBytes, numberBytes, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { cutCells } from './cut-cells.ts';
import { JoinedState } from './joined-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import { kernels } from './vector-kernels.ts';

/**
 * The first cells of a state as a state of their own, until it is disposed of: of one that was joined a copy in memory that is
 * leased, since an engine takes such beginnings in one after the other.
 * @throws RangeError where there are fewer cells, and for none
 */
export function firstCells(state: SequenceState, count: number): SequenceState {
  const cells = state.positions.length;
  if (!(state instanceof JoinedState) || !Number.isInteger(count) || count < 1 || count > cells) {
    return cutCells(state, 0, count);
  }
  const { layout, positions, tokenIds } = state;
  const first = new JoinedState({ layout, positions: positions.slice(0, count), tokenIds: tokenIds.slice(0, count) });
  const valueBytes = valueRowBytes(layout);
  const rowBytes = layout.valuesTransposed ? numberBytes(layout.valueType) : valueBytes;
  state.keysAt.forEach((from, layer) => {
    wholeMemory().copyWithin(first.keysAt[layer]!, from, from + count * keyRowBytes(layout));
  });
  state.valuesAt.forEach((from, layer) => {
    // Transposed, a row is of all cells; otherwise one row holds them all.
    const allBytes = cells * valueBytes;
    const sourceRowBytes = layout.valuesTransposed ? cells * rowBytes : allBytes;
    kernels.gatherRows(from, from + allBytes, sourceRowBytes, first.valuesAt[layer]!, count * rowBytes);
  });
  return first;
}
