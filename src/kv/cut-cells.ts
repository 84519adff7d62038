import { keyRowBytes, numberBytes, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { kvBytes, ownedState } from './owned-state.ts';

/**
 * Copies a range of cells out of a state or of another block: a memory line that was evaluated right behind the header,
 * or a part of a block. The copy keeps nothing else alive; the state can be disposed of.
 * @param start the first cell @param end the cell behind the last
 * @throws RangeError for an empty range and for one that goes beyond the cells
 */
export function cutCells(from: SequenceState, start: number, end: number): SequenceState {
  const { layout } = from;
  const cells = from.positions.length;
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end <= start || end > cells) {
    throw new RangeError(`cannot cut the cells ${start} to ${end} out of ${cells}`);
  }
  const count = end - start;
  const [tokenIds, positions] = [from.tokenIds.slice(start, end), from.positions.slice(start, end)];
  const memory = new Uint8Array(kvBytes({ layout, positions }));
  let used = 0;
  const take = (bytes: number): Uint8Array => memory.subarray(used, (used += bytes));
  const rowsOf = (tensor: Uint8Array, rowBytes: number): Uint8Array => {
    const copy = take(count * rowBytes);
    copy.set(tensor.subarray(start * rowBytes, end * rowBytes));
    return copy;
  };
  const valueBytes = valueRowBytes(layout);
  const columnsOf = (tensor: Uint8Array): Uint8Array => {
    const bytes = numberBytes(layout.valueType);
    const copy = take(count * valueBytes);
    for (let row = 0; row < valueBytes / bytes; row++) {
      const line = row * cells;
      copy.set(tensor.subarray((line + start) * bytes, (line + end) * bytes), row * count * bytes);
    }
    return copy;
  };
  return ownedState({
    layout,
    tokenIds,
    positions,
    keys: from.keys.map((keys) => rowsOf(keys, keyRowBytes(layout))),
    values: from.values.map((values) => (layout.valuesTransposed ? columnsOf(values) : rowsOf(values, valueBytes))),
  });
}
