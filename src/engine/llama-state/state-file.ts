import { closeSync, openSync, writevSync } from 'node:fs';
import { keyRowBytes, type KvLayout, numberBytes, type SequenceState, valueRowBytes } from '../sequence-state.ts';
import type { StateBytes } from './state-bytes.ts';
import {
  CELL_INTEGERS,
  type FileTensors,
  ggmlType,
  INTEGER_BYTES,
  MAGIC,
  readStateLayout,
  type StateForm,
  WRAPPED,
} from './state-layout.ts';

/** The id in the token list of a position that no cell has, or several have, or whose token is not known. */
export const PLACEHOLDER_TOKEN = 0;

/** The parts of a state file, in order; keys and values are those of the state itself, not copied. */
export function stateParts(
  state: SequenceState,
  tokensByPosition: readonly number[],
  streams: number,
  { version, isWrapped }: StateForm,
): Uint8Array[] {
  const { layout, positions } = state;
  const { keys, values } = state;
  const cells = positions.length;
  const bytesOf = (integers: Int32Array): Uint8Array => new Uint8Array(integers.buffer);
  const fields = new Int32Array(cells * CELL_INTEGERS);
  for (let cell = 0; cell < cells; cell++) {
    fields[CELL_INTEGERS * cell] = positions[cell]!;
    fields[CELL_INTEGERS * cell + 1] = 1;
  }
  const tokens = tokensByPosition.map((token) => (token < 0 ? PLACEHOLDER_TOKEN : token));
  const record = Int32Array.from(isWrapped ? [WRAPPED.mark, WRAPPED.version, tokens.length, ...tokens, 0] : tokens);
  const { keyType, valueType, valuesTransposed } = layout;
  const keyHead = Int32Array.of(ggmlType(keyType), keyRowBytes(layout), 0);
  const valueRow = valueRowBytes(layout);
  const valueHead = valuesTransposed
    ? Int32Array.of(ggmlType(valueType), numberBytes(valueType), valueRow / numberBytes(valueType))
    : Int32Array.of(ggmlType(valueType), valueRow, 0);
  return [
    bytesOf(Int32Array.of(MAGIC, version, record.length)),
    bytesOf(record),
    bytesOf(Int32Array.of(streams, cells)),
    bytesOf(fields),
    bytesOf(Int32Array.of(valuesTransposed ? 1 : 0, layout.layers, ...(version === 4 ? [0, 0] : []))),
    ...keys.flatMap((tensor) => [bytesOf(keyHead), tensor]),
    ...values.flatMap((tensor) => [bytesOf(valueHead), tensor]),
    new Uint8Array((streams - 1) * INTEGER_BYTES),
  ];
}

/** Writes parts into a new file (0600), one behind the other. @throws NodeJS.ErrnoException as the file system does */
export function writeParts(path: string, parts: readonly Uint8Array[]): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeAll(file, parts, 0);
  } finally {
    closeSync(file);
  }
}

/** Writes parts into an open file from an offset on, one behind the other. @throws NodeJS.ErrnoException as the file system does */
export function writeAll(file: number, parts: readonly Uint8Array[], offset: number): void {
  let left = parts.filter(({ length }) => length > 0);
  for (let at = offset; left.length > 0;) {
    const written = writevSync(file, left, at);
    left = behind(left, written);
    at += written;
  }
}

/** One call may write less than it was given, where the disk is nearly full. */
function behind(parts: readonly Uint8Array[], written: number): Uint8Array[] {
  let rest = written;
  let index = 0;
  while (index < parts.length && rest >= parts[index]!.length) rest -= parts[index++]!.length;
  const [first, ...others] = parts.slice(index);
  return first === undefined ? [] : [first.subarray(rest), ...others];
}

/** Cells in the order of a file. */
export type FileCells = Pick<SequenceState, 'positions' | 'keys' | 'values'>;

/** The content of a state file; keys and values are views into its bytes. */
export interface ParsedState extends FileCells {
  readonly bytes: Uint8Array;
  readonly form: StateForm;
  /** One for each position. */
  readonly tokens: Int32Array;
  readonly tensors: FileTensors;
  /** Sequences of the context that it was saved from. */
  readonly streams: number;
  /** The end of the list of tokens; begin and end of the part of the only sequence that has cells. */
  readonly tokensEnd: number;
  readonly cellsAt: number;
  readonly cellsEnd: number;
}

/**
 * Reads the bytes of a state file.
 * @param name names the bytes in a message
 * @throws BenchError `bad-state` naming what is damaged or not supported
 */
export function parseState(bytes: Uint8Array<ArrayBuffer>, name: string): ParsedState {
  const content: StateBytes = {
    sizeBytes: bytes.length,
    copy: (offset, length) => new Uint8Array(bytes.subarray(offset, offset + length)),
  };
  const layout = readStateLayout(content, name);
  const { form, positions, tensors, keysAt, valuesAt, streams, stream, tokensAt, tokenCount, tokensEnd } = layout;
  // Not `subarray`: of a Buffer it gives Buffers, whose `slice` does not copy.
  const viewsOf = (starts: readonly number[], rowBytes: number): Uint8Array[] =>
    starts.map((start) => new Uint8Array(bytes.buffer, bytes.byteOffset + start, positions.length * rowBytes));
  return {
    bytes,
    form,
    tokens: new Int32Array(content.copy(tokensAt, tokenCount * INTEGER_BYTES).buffer),
    tensors,
    streams,
    tokensEnd,
    cellsAt: tokensEnd + (1 + stream) * INTEGER_BYTES,
    cellsEnd: bytes.length - (streams - stream - 1) * INTEGER_BYTES,
    positions,
    keys: viewsOf(keysAt, tensors.keyRowBytes),
    values: viewsOf(valuesAt, tensors.valueRowBytes),
  };
}

/** The parts of a state file for a context of another number of sequences, in order. */
export function withStreams({ bytes, tokensEnd, cellsAt, cellsEnd }: ParsedState, streams: number): Uint8Array[] {
  return [
    bytes.subarray(0, tokensEnd),
    new Uint8Array(Int32Array.of(streams).buffer),
    bytes.subarray(cellsAt, cellsEnd),
    new Uint8Array((streams - 1) * INTEGER_BYTES),
  ];
}

/** Copies cells out, in the order in which they are named. */
export function gatherCells(
  { positions, keys, values }: FileCells,
  cells: readonly number[],
  layout: KvLayout,
): FileCells {
  const rows = (tensor: Uint8Array, rowBytes: number): Uint8Array => {
    const copy = new Uint8Array(cells.length * rowBytes);
    eachRun(cells, (from, to, count) =>
      copy.set(tensor.subarray(from * rowBytes, (from + count) * rowBytes), to * rowBytes),
    );
    return copy;
  };
  return {
    positions: Int32Array.from(cells, (cell) => positions[cell]!),
    keys: keys.map((tensor) => rows(tensor, keyRowBytes(layout))),
    values: values.map((tensor) =>
      layout.valuesTransposed
        ? gatherColumns(tensor, positions.length, cells, layout)
        : rows(tensor, valueRowBytes(layout)),
    ),
  };
}

/**
 * Copies the values of cells out of those of a layer, [dimension][cell] both, in the order in which they are named.
 * @param allCells their number in the layer
 */
export function gatherColumns(
  tensor: Uint8Array,
  allCells: number,
  cells: readonly number[],
  layout: KvLayout,
): Uint8Array {
  const bytes = numberBytes(layout.valueType);
  const copy = new Uint8Array(cells.length * valueRowBytes(layout));
  for (let row = 0; row < layout.heads * layout.headDimension; row++) {
    const [source, target] = [row * allCells, row * cells.length];
    eachRun(cells, (from, to, count) =>
      copy.set(tensor.subarray((source + from) * bytes, (source + from + count) * bytes), (target + to) * bytes),
    );
  }
  return copy;
}

/** Calls back for each run of neighbouring cells: the first, its place among those wanted, and the length. */
export function eachRun(cells: readonly number[], act: (from: number, to: number, count: number) => void): void {
  for (let start = 0, end = 0; start < cells.length; start = end) {
    end = start + 1;
    while (end < cells.length && cells[end] === cells[start]! + end - start) end++;
    act(cells[start]!, start, end - start);
  }
}
