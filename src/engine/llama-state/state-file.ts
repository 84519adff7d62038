import { isDeepStrictEqual } from 'node:util';
import { closeSync, openSync, writevSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import {
  keyRowBytes,
  type KvLayout,
  numberBytes,
  type NumberType,
  numberTypes,
  type SequenceState,
  valueRowBytes,
} from '../sequence-state.ts';

/** Id in the file's token list for positions with an unknown token, no cell, or several cells. */
export const PLACEHOLDER_TOKEN = 0;
const MAGIC = 0x67677371;
const INTEGER_BYTES = 4;
/** Integers per cell: position, number of owning sequences (1), owning sequence. */
const CELL_INTEGERS = 3;
/** Models with positions in several dimensions (M-RoPE) write two more integers per cell. */
const EXTENDED_CELL_INTEGERS = 5;
/** llama-server wraps the token list: mark, version and count before it, the number of media files after it. */
const WRAPPED = { mark: -1, version: 1, before: 3, after: 1 } as const;
const OTHER_TYPES: Readonly<Record<number, string>> = {
  2: 'Q4_0',
  3: 'Q4_1',
  6: 'Q5_0',
  7: 'Q5_1',
  8: 'Q8_0',
  20: 'IQ4_NL',
  30: 'BF16',
};
const UNSUPPORTED_MODEL = 'use a model with movable KV: architecture llama, qwen2, qwen3 or qwen3moe';
const UNSUPPORTED_TYPE = 'store KV in F16 or F32';

/** Format variant of a state file; depends on the llama.cpp build, and on whether llama-server wrote it. */
export interface StateForm {
  /** Version 4 adds two integers after the number of layers: sizes of the Hadamard rotation of keys and values; 0 without one. */
  readonly version: 3 | 4;
  /** The token list is wrapped, as by llama-server since version 4. */
  readonly isWrapped: boolean;
}

/** Types and sizes of the KV in a state file; the same in all layers. */
export interface FileTensors extends Pick<KvLayout, 'layers' | 'keyType' | 'valueType' | 'valuesTransposed'> {
  readonly keyRowBytes: number;
  readonly valueRowBytes: number;
}

/** Cells in file order. Per layer, keys are [cell][number]; values are too, or [number][cell] if transposed. */
export interface FileCells extends Pick<SequenceState, 'positions' | 'keys' | 'values'> {
  readonly tensors: FileTensors;
}

/** Contents of a state file; keys and values are views into its bytes. */
export interface ParsedState extends FileCells {
  readonly form: StateForm;
  readonly tokens: Int32Array;
  readonly streams: number;
}

/** What a state file says about its tensors if its KV has this layout. */
export function fileTensors(layout: KvLayout): FileTensors {
  const { layers, keyType, valueType, valuesTransposed } = layout;
  const rows = { keyRowBytes: keyRowBytes(layout), valueRowBytes: valueRowBytes(layout) };
  return { layers, keyType, valueType, valuesTransposed, ...rows };
}

/**
 * Parses a llama.cpp sequence state of version 3 or 4, and checks its length against its header fields, because llama.cpp crashes on
 * a file that is cut short within the values. Does not detect flipped bits.
 *
 * @param name of the file, for messages
 * @param windowed layers with a sliding window, whose cells are in a second cache; they must be the same cells
 * @throws BenchError `bad-state` for damage, quantised KV, M-RoPE positions, an unexpected second cache (sliding windows, hybrid
 * models), and layers that differ
 */
export function parseState(bytes: Uint8Array<ArrayBuffer>, name: string, windowed: readonly number[] = []) {
  const reader = new StateReader(bytes, name);
  const { form, tokens } = readTokens(reader);
  const { streams, ...first } = readCache(reader, form);
  const cells = windowed.length === 0 ? first : mergeCaches(first, readCache(reader, form), { reader, windowed });
  requireEnd(reader, streams);
  const last = cells.positions.reduce((largest, position) => Math.max(largest, position), -1);
  if (last + 1 !== tokens.length)
    throw reader.refusal(`it has ${tokens.length} tokens, but its last position is ${last}`);
  return { form, tokens, streams, ...cells };
}

/** Reads the cells of one cache. Models with sliding windows have two. */
function readCache(reader: StateReader, { version }: StateForm): FileCells & Pick<ParsedState, 'streams'> {
  const streams = reader.integers(1)[0]!;
  let cells: FileCells | undefined;
  for (let stream = 0; stream < streams; stream++) {
    const count = reader.integers(1)[0]!;
    if (count === 0) continue;
    if (cells !== undefined) throw reader.refusal('cells in more than one stream');
    const positions = readPositions(reader, count);
    cells = { positions, ...readTensors(reader, count, version) };
  }
  if (cells === undefined) throw reader.refusal('it has no cells');
  return { streams, ...cells };
}

/** The cells of all layers, in the order of layers. */
function mergeCaches(
  full: FileCells,
  window: FileCells,
  { reader, windowed }: { readonly reader: StateReader; readonly windowed: readonly number[] },
): FileCells {
  const layers = full.tensors.layers + window.tensors.layers;
  const isSame = window.tensors.layers === windowed.length && isDeepStrictEqual(full.positions, window.positions);
  if (!isSame) throw reader.refusal('the layers with a sliding window have other cells than those without');
  const types = { ...full.tensors, layers };
  if (!isDeepStrictEqual(types, { ...window.tensors, layers })) {
    throw reader.refusal('the layers with a sliding window have another layout');
  }
  const merged = (ofFull: readonly Uint8Array[], ofWindow: readonly Uint8Array[]): Uint8Array[] => {
    const [others, own] = [ofFull.values(), ofWindow.values()];
    return Array.from({ length: layers }, (_, layer) => (windowed.includes(layer) ? own : others).next().value!);
  };
  return {
    positions: full.positions,
    keys: merged(full.keys, window.keys),
    values: merged(full.values, window.values),
    tensors: types,
  };
}

/** The tokens of a state file of any layout, and a check of its start. @throws BenchError `bad-state` */
export function parseStateTokens(bytes: Uint8Array<ArrayBuffer>, name: string): Int32Array {
  return readTokens(new StateReader(bytes, name)).tokens;
}

function readTokens(reader: StateReader) {
  const [magic, version, recordCount] = reader.integers(3);
  if (magic !== MAGIC || (version !== 3 && version !== 4)) {
    throw reader.refusal('not a llama.cpp state of version 3 or 4');
  }
  const record = reader.integers(recordCount!);
  const isWrapped = record[0] === WRAPPED.mark;
  const form: StateForm = { version, isWrapped };
  return { form, tokens: isWrapped ? unwrap(record, reader) : record };
}

function unwrap(record: Int32Array<ArrayBuffer>, reader: StateReader): Int32Array {
  const [, version, count] = record;
  const whole = version === WRAPPED.version && record.length === count! + WRAPPED.before + WRAPPED.after;
  if (!whole || record.at(-1) !== 0) throw reader.refusal('its token list holds images or audio, or is damaged');
  return record.slice(WRAPPED.before, -WRAPPED.after);
}

function readPositions(reader: StateReader, cells: number): Int32Array {
  const start = reader.offset;
  const fields = reader.integers(cells * CELL_INTEGERS);
  const positions = new Int32Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    const [position, owners, owner] = fields.subarray(CELL_INTEGERS * cell);
    if (owners !== 1 && hasExtendedCells(reader, start, cells)) {
      throw reader.refusal('its cells have positions in several dimensions (M-RoPE)', UNSUPPORTED_MODEL);
    }
    if (owners !== 1) throw reader.refusal(`cell ${cell} does not belong to exactly one sequence`);
    if (owner !== fields[2]) throw reader.refusal(`cells 0 and ${cell} belong to different sequences`);
    if (position! < 0) throw reader.refusal(`cell ${cell} has the position ${position}, which llama.cpp would ignore`);
    positions[cell] = position!;
  }
  return positions;
}

function hasExtendedCells(reader: StateReader, start: number, cells: number): boolean {
  const integers = cells * EXTENDED_CELL_INTEGERS;
  if (start + integers * INTEGER_BYTES > reader.bytes.length) return false;
  const fields = reader.integersAt(start, integers);
  return Array.from({ length: cells }, (_, cell) => fields[EXTENDED_CELL_INTEGERS * cell + 1]).every(
    (owners) => owners === 1,
  );
}

function readTensors(reader: StateReader, cells: number, version: StateForm['version']) {
  const [transposed, layers] = reader.integers(2);
  if (transposed !== 0 && transposed !== 1)
    throw reader.refusal(`its flag for transposed values is ${transposed}, not 0 or 1`);
  if (layers! < 1) throw reader.refusal(`its number of layers is ${layers}`);
  if (version === 4 && reader.integers(2).some((size) => size !== 0)) {
    const why = 'llama.cpp has rotated its keys or values by a Hadamard matrix, as it does with quantised ones';
    throw reader.refusal(why, UNSUPPORTED_TYPE);
  }
  const valuesTransposed = transposed === 1;
  const keys = readLayers(reader, 'keys', layers!, { cells, transposed: false });
  const values = readLayers(reader, 'values', layers!, { cells, transposed: valuesTransposed });
  const types = { layers: layers!, keyType: keys.type, valueType: values.type, valuesTransposed };
  const tensors = { ...types, keyRowBytes: keys.rowBytes, valueRowBytes: values.rowBytes };
  return { tensors, keys: keys.tensors, values: values.tensors };
}

function readLayers(
  reader: StateReader,
  what: string,
  layers: number,
  { cells, transposed }: { readonly cells: number; readonly transposed: boolean },
): { readonly type: NumberType; readonly rowBytes: number; readonly tensors: Uint8Array[] } {
  const tensors: Uint8Array[] = [];
  let common: { readonly type: NumberType; readonly rowBytes: number } | undefined;
  for (let layer = 0; layer < layers; layer++) {
    const [typeNumber, low, high] = reader.integers(3);
    const type = numberTypes[typeNumber!];
    if (type === undefined) {
      const name = OTHER_TYPES[typeNumber!] ?? `of type ${typeNumber}`;
      throw reader.refusal(`the ${what} of layer ${layer} are ${name}`, UNSUPPORTED_TYPE);
    }
    const bytes = numberBytes(type);
    // Transposed: bytes per number, then number of rows. Otherwise: bytes per row, in 64 bits.
    const rowBytes = transposed ? bytes * (high! >>> 0) : (low! >>> 0) + (high! >>> 0) * 2 ** 32;
    common ??= { type, rowBytes };
    const whole = rowBytes > 0 && rowBytes % bytes === 0 && (!transposed || low === bytes);
    if (!whole || type !== common.type || rowBytes !== common.rowBytes) {
      throw reader.refusal(
        `the ${what} of layer ${layer} have an invalid size, or another type or size than those of layer 0`,
      );
    }
    tensors.push(reader.take(cells * rowBytes));
  }
  return { ...common!, tensors };
}

/** Models with sliding windows or recurrent layers write a second cache, which starts with the number of streams again. */
function requireEnd(reader: StateReader, streams: number): void {
  const extraBytes = reader.bytes.length - reader.offset;
  if (extraBytes === 0) return;
  if (extraBytes > INTEGER_BYTES && reader.integers(1)[0] === streams) {
    const why = 'it has a second cache (sliding-window attention or a hybrid model)';
    throw reader.refusal(why, UNSUPPORTED_MODEL);
  }
  throw reader.refusal(`${extraBytes} bytes too long`);
}

/** Reads bytes in order, and never beyond the end. */
class StateReader {
  readonly bytes: Uint8Array<ArrayBuffer>;
  offset = 0;
  readonly #name: string;

  constructor(bytes: Uint8Array<ArrayBuffer>, name: string) {
    this.bytes = bytes;
    this.#name = name;
  }

  integers(count: number): Int32Array<ArrayBuffer> {
    const start = this.offset;
    this.take(count * INTEGER_BYTES);
    return this.integersAt(start, count);
  }

  /** Copies integers, which are little-endian in the file and on all supported machines. */
  integersAt(start: number, count: number): Int32Array<ArrayBuffer> {
    const at = this.bytes.byteOffset + start;
    return new Int32Array(this.bytes.buffer.slice(at, at + count * INTEGER_BYTES));
  }

  /** A view of the next bytes. Not `subarray`: on a Buffer it returns a Buffer, whose `slice` does not copy. */
  take(length: number): Uint8Array {
    const start = this.offset;
    if (length < 0 || start + length > this.bytes.length) throw this.refusal('cut short');
    this.offset += length;
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + start, length);
  }

  refusal(why: string, hint = 'delete it; it will be computed again'): BenchError {
    return new BenchError('bad-state', `${this.#name}: unusable KV state: ${why}`, hint);
  }
}

/**
 * Encodes a state file as a list of parts; keys and values are not copied.
 * @param form also `streams`, the sequences of the context, and `windowed`, the layers with a sliding window, in a second cache
 */
export function stateParts(
  { positions, keys, values, tensors }: FileCells,
  tokensByPosition: ArrayLike<number>,
  form: StateForm & { readonly streams: number; readonly windowed?: readonly number[] },
): Uint8Array[] {
  const { streams, version, isWrapped, windowed = [] } = form;
  const integers = (...numbers: number[]): Uint8Array => new Uint8Array(Int32Array.from(numbers).buffer);
  const cells = new Int32Array(positions.length * CELL_INTEGERS);
  positions.forEach((position, cell) => cells.set([position, 1], CELL_INTEGERS * cell));
  const tokens = Array.from(tokensByPosition, (token) => (token < 0 ? PLACEHOLDER_TOKEN : token));
  const record = Int32Array.from(isWrapped ? [WRAPPED.mark, WRAPPED.version, tokens.length, ...tokens, 0] : tokens);
  const { layers, keyType, valueType, valuesTransposed, valueRowBytes: valueRow } = tensors;
  const keyHeader = integers(numberTypes.indexOf(keyType), tensors.keyRowBytes, 0);
  const valueBytes = numberBytes(valueType);
  const rowFields = valuesTransposed ? [valueBytes, valueRow / valueBytes] : [valueRow, 0];
  const valueHeader = integers(numberTypes.indexOf(valueType), ...rowFields);
  const cache = (own: readonly number[]): Uint8Array[] => [
    integers(streams, positions.length),
    new Uint8Array(cells.buffer),
    integers(valuesTransposed ? 1 : 0, own.length, ...(version === 4 ? [0, 0] : [])),
    ...own.flatMap((layer) => [keyHeader, keys[layer]!]),
    ...own.flatMap((layer) => [valueHeader, values[layer]!]),
    new Uint8Array((streams - 1) * INTEGER_BYTES),
  ];
  const full = [...Array(layers).keys()].filter((layer) => !windowed.includes(layer));
  return [
    integers(MAGIC, version, record.length),
    new Uint8Array(record.buffer),
    ...cache(full),
    ...(windowed.length === 0 ? [] : cache(windowed)),
  ];
}

/** Writes parts into a new file (0600). @throws NodeJS.ErrnoException as the file system does */
export function writeParts(path: string, parts: readonly Uint8Array[]): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeAll(file, parts);
  } finally {
    closeSync(file);
  }
}

/** Writes parts into an open file from its beginning. @throws NodeJS.ErrnoException as the file system does */
export function writeAll(file: number, parts: readonly Uint8Array[]): void {
  let left = parts.filter(({ length }) => length > 0);
  for (let at = 0; left.length > 0;) {
    // One call may write only a part, for example on a nearly full disk.
    let written = writevSync(file, left, at);
    at += written;
    const next = left.findIndex(({ length }) => {
      if (written < length) return true;
      written -= length;
      return false;
    });
    left = next === -1 ? [] : [left[next]!.subarray(written), ...left.slice(next + 1)];
  }
}

/** Copies the cells with the given indices, in that order. */
export function gatherCells({ positions, keys, values, tensors }: FileCells, cells: readonly number[]): FileCells {
  const allCells = positions.length;
  const isWhole = cells.length === allCells && cells.every((cell, index) => cell === index);
  const gather = (tensor: Uint8Array, rows: number, bytes: number): Uint8Array => {
    if (isWhole) return tensor.slice();
    const copy = new Uint8Array(rows * cells.length * bytes);
    for (let row = 0; row < rows; row++) {
      const [source, target] = [row * allCells, row * cells.length];
      for (let start = 0, end = 0; start < cells.length; start = end) {
        end = start + 1;
        while (end < cells.length && cells[end] === cells[start]! + end - start) end++;
        const from = (source + cells[start]!) * bytes;
        copy.set(tensor.subarray(from, from + (end - start) * bytes), (target + start) * bytes);
      }
    }
    return copy;
  };
  const { keyRowBytes: keyRow, valueRowBytes: valueRow, valueType, valuesTransposed } = tensors;
  const valueRows = valuesTransposed ? valueRow / numberBytes(valueType) : 1;
  return {
    positions: Int32Array.from(cells, (cell) => positions[cell]!),
    keys: keys.map((tensor) => gather(tensor, 1, keyRow)),
    values: values.map((tensor) => gather(tensor, valueRows, valueRow / valueRows)),
    tensors,
  };
}
