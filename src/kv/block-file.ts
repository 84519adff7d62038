import { BenchError } from '../base/bench-error.ts';
import { hasFiniteNumbers } from '../engine/finite-numbers.ts';
import {
  cellBytes,
  keyRowBytes,
  type KvLayout,
  numberTypes,
  ownedState,
  type SequenceState,
  valueRowBytes,
} from '../engine/sequence-state.ts';

const VERSION = 1;
const INTEGER_BYTES = 4;
/** Magic number, version, number of cells, and six integers of the layout. */
const HEADER_INTEGERS = 9;

/** A file format: a file header, positions and tokens of the cells, then keys and values. */
export interface BlockFormat {
  readonly magic: number;
  /** Integers that the file header has after those of all formats. */
  readonly moreIntegers: number;
  /** Bytes of keys and values; undefined if the file header is invalid. */
  readonly tensorBytes: (layout: KvLayout, cells: number, more: readonly number[]) => number | undefined;
}

/** The bytes `DKIB`. */
const plainFormat: BlockFormat = {
  magic: 0x42494b44,
  moreIntegers: 0,
  tensorBytes: (layout, cells) => cells * cellBytes(layout),
};

/**
 * The bytes of a KV block on disk. All integers have 32 bits, little-endian:
 *
 * ```text
 * magic, version, cells, layers, heads, headDimension, keyType, valueType, valuesTransposed
 * positions[cells]  tokenIds[cells]
 * keys of each layer: [cell][head][dimension]
 * values of each layer: [cell][head][dimension], or [head][dimension][cell] where transposed
 * ```
 *
 * A type is its index in `numberTypes`.
 */
export function writeBlockFile(state: SequenceState): Uint8Array<ArrayBuffer> {
  return writeCells(plainFormat, state, [], [...state.keys, ...state.values]);
}

/** Length of the file of a block with that many cells. */
export function blockFileBytes(layout: KvLayout, cells: number): number {
  return (HEADER_INTEGERS + 2 * cells) * INTEGER_BYTES + cells * cellBytes(layout);
}

/**
 * Reads what `writeBlockFile` wrote. Keys and values are views into the bytes. Does not detect flipped bits in numbers: the
 * store's fingerprint does.
 * @param name of the block in messages
 * @throws BenchError `bad-state` naming the damage: wrong format, unknown types, wrong length
 */
export function readBlockFile(bytes: Uint8Array, name = 'KV block'): SequenceState {
  const { layout, positions, tokenIds, tensors } = readCells(plainFormat, bytes, name);
  let used = 0;
  const views = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => tensors.subarray(used, (used += positions.length * rowBytes)));
  const keys = views(keyRowBytes(layout));
  const values = views(valueRowBytes(layout));
  if (!hasFiniteNumbers({ layout, keys, values })) throw unusable(name, 'keys or values that are not finite numbers');
  return ownedState({ layout, positions, tokenIds, keys, values });
}

/** Writes cells in a format. @param more additional integers of the file header @param tensors keys, then values */
export function writeCells(
  { magic }: BlockFormat,
  { layout, positions, tokenIds }: Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'>,
  more: readonly number[],
  tensors: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const { layers, heads, headDimension, valuesTransposed } = layout;
  const [keyType, valueType] = [layout.keyType, layout.valueType].map((type) => numberTypes.indexOf(type));
  const shape = [layers, heads, headDimension, keyType!, valueType!, Number(valuesTransposed)];
  const header = Int32Array.from([magic, VERSION, positions.length, ...shape, ...more]);
  const parts = [header, positions, tokenIds, ...tensors];
  const sizeBytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(sizeBytes).buffer);
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return bytes;
}

/**
 * Reads what `writeCells` wrote.
 * @returns `tensors` is a view of the bytes of keys and values
 * @throws BenchError `bad-state` naming the damage
 */
export function readCells(
  { magic, moreIntegers, tensorBytes }: BlockFormat,
  bytes: Uint8Array,
  name: string,
): Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'> & { more: readonly number[]; tensors: Uint8Array } {
  const headerBytes = (HEADER_INTEGERS + moreIntegers) * INTEGER_BYTES;
  if (bytes.length < headerBytes) throw unusable(name, 'cut short');
  const header = [...readIntegers(bytes, 0, HEADER_INTEGERS + moreIntegers)];
  if (header[0] !== magic || header[1] !== VERSION) throw unusable(name, `not in version ${VERSION} of the format`);
  const cells = header[2]! >>> 0;
  const layout = readLayout(header);
  const more = header.slice(HEADER_INTEGERS);
  const expected = layout && tensorBytes(layout, cells, more);
  if (layout === undefined || expected === undefined || cells === 0) throw unusable(name, 'invalid file header');
  const tensorsAt = headerBytes + cells * 2 * INTEGER_BYTES;
  const excess = bytes.length - tensorsAt - expected;
  if (excess !== 0) throw unusable(name, excess < 0 ? 'cut short' : `${excess} bytes too long`);
  const positions = readIntegers(bytes, headerBytes, cells);
  const tokenIds = readIntegers(bytes, headerBytes + cells * INTEGER_BYTES, cells);
  if (positions.some((position) => position < 0)) throw unusable(name, 'a position below 0');
  if (tokenIds.some((id) => id < -1)) throw unusable(name, 'a token below −1');
  // Not `subarray`: on a Buffer it returns a Buffer, whose `slice` does not copy.
  return {
    layout,
    positions,
    tokenIds,
    more,
    tensors: new Uint8Array(bytes.buffer, bytes.byteOffset + tensorsAt, expected),
  };
}

/** The layout in a file header; undefined if it is invalid. */
function readLayout(header: readonly number[]): KvLayout | undefined {
  const [layers = 0, heads = 0, headDimension = 0, keyIndex = 0, valueIndex = 0, transposed = 0] = header
    .slice(3)
    .map((integer) => integer >>> 0);
  const [keyType, valueType] = [numberTypes[keyIndex], numberTypes[valueIndex]];
  const isEmpty = layers * heads * headDimension === 0;
  if (keyType === undefined || valueType === undefined || isEmpty || transposed > 1) return undefined;
  return { layers, heads, headDimension, keyType, valueType, valuesTransposed: transposed === 1 };
}

function readIntegers(bytes: Uint8Array, offset: number, count: number): Int32Array {
  return new Int32Array(new Uint8Array(bytes.subarray(offset, offset + count * INTEGER_BYTES)).buffer);
}

function unusable(name: string, why: string): BenchError {
  return new BenchError('bad-state', `${name}: unusable KV block: ${why}`, 'delete it; it will be computed again');
}
