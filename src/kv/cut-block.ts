import { numberBytes } from '../llm/state-format.ts';
import type { KvCells } from './sequence-state.ts';

/** Bytes that cells take in memory, their keys and values. */
export function kvBytes({ layout, positions }: KvCells): number {
  return positions.length * layout.layers * (layout.keyRowBytes + layout.valueRowBytes);
}

/**
 * Copies a range of cells out of a state or of another block: a memory line that was evaluated right behind the header,
 * or the part of a block that is linked. The copy is all that it keeps; the state can go.
 * @param start the first cell @param end the cell behind the last
 * @throws RangeError for an empty range and for one that goes beyond the cells
 */
export function cutBlock(from: KvCells, start: number, end: number): KvCells {
  const { layout } = from;
  const cells = from.positions.length;
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end <= start || end > cells) {
    throw new RangeError(`cannot cut the cells ${start} to ${end} out of ${cells}`);
  }
  const count = end - start;
  const memory = new Uint8Array(count * layout.layers * (layout.keyRowBytes + layout.valueRowBytes));
  let used = 0;
  const take = (bytes: number): Uint8Array => memory.subarray(used, (used += bytes));
  const rowsOf = (tensor: Uint8Array, rowBytes: number): Uint8Array => {
    const copy = take(count * rowBytes);
    copy.set(tensor.subarray(start * rowBytes, end * rowBytes));
    return copy;
  };
  const columnsOf = (tensor: Uint8Array): Uint8Array => {
    const bytes = numberBytes(layout.valueType);
    const copy = take(count * layout.valueRowBytes);
    for (let row = 0; row < layout.valueRowBytes / bytes; row++) {
      const line = row * cells;
      copy.set(tensor.subarray((line + start) * bytes, (line + end) * bytes), row * count * bytes);
    }
    return copy;
  };
  return {
    layout,
    tokenIds: from.tokenIds.slice(start, end),
    positions: from.positions.slice(start, end),
    keys: from.keys.map((keys) => rowsOf(keys, layout.keyRowBytes)),
    values: from.values.map((values) =>
      layout.valuesTransposed ? columnsOf(values) : rowsOf(values, layout.valueRowBytes),
    ),
  };
}
