import { keyRowBytes, kvBytes, ownedState, type SequenceState, valueRows } from '../engine/sequence-state.ts';

/**
 * Copies a range of cells, such as a memory line evaluated after the header. The state may be disposed of afterwards.
 * @param end index after the last cell
 * @throws RangeError if the range is empty or goes beyond the cells
 */
export function cutCells(from: SequenceState, start: number, end: number): SequenceState {
  const { layout } = from;
  const cells = from.positions.length;
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end <= start || end > cells) {
    throw new RangeError(`cannot cut the cells ${start} to ${end} out of ${cells}`);
  }
  const positions = from.positions.slice(start, end);
  const memory = new Uint8Array(kvBytes({ layout, positions }));
  let used = 0;
  /** Copies the same range of each row. */
  const cut = (tensor: Uint8Array, rows: number, cellBytes: number): Uint8Array => {
    const rowBytes = positions.length * cellBytes;
    const copy = memory.subarray(used, (used += rows * rowBytes));
    for (let row = 0; row < rows; row++) {
      const at = (row * cells + start) * cellBytes;
      copy.set(tensor.subarray(at, at + rowBytes), row * rowBytes);
    }
    return copy;
  };
  const { rows, cellBytes } = valueRows(layout);
  return ownedState({
    layout,
    tokenIds: from.tokenIds.slice(start, end),
    positions,
    keys: from.keys.map((keys) => cut(keys, 1, keyRowBytes(layout))),
    values: from.values.map((values) => cut(values, rows, cellBytes)),
  });
}

/** The first layers of a state, read from it at each use; valid as long as the state. */
export function firstLayers(state: SequenceState, layers: number): SequenceState {
  const { layout, positions, tokenIds } = state;
  return {
    ...ownedState({ layout: { ...layout, layers }, positions, tokenIds, keys: [], values: [] }),
    get keys() {
      return state.keys.slice(0, layers);
    },
    get values() {
      return state.values.slice(0, layers);
    },
  };
}
