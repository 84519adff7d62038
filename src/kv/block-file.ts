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
/** Magic number, version, number of cells, and six of the layout. */
const HEAD_INTEGERS = 9;

/** A format of files that hold a head, the positions and tokens of cells, then keys and values. */
export interface BlockFormat {
  readonly magic: number;
  /** Integers of the head behind those that all formats have. */
  readonly moreIntegers: number;
  /** Bytes of keys and values; undefined for a head that describes none. */
  readonly tensorBytes: (layout: KvLayout, cells: number, more: readonly number[]) => number | undefined;
}

/** The bytes `DKIB`. */
const plainFormat: BlockFormat = {
  magic: 0x42494b44,
  moreIntegers: 0,
  tensorBytes: (layout, cells) => cells * cellBytes(layout),
};

/**
 * The bytes of a KV block as the disk stores it; all integers in 32 bits, little-endian:
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

/**
 * Reads what `writeBlockFile` wrote. Keys and values are views into the bytes. Flipped bits of numbers are not detected: a
 * store keeps a fingerprint of the bytes.
 * @param name names the bytes in a message
 * @throws BenchError `bad-state` naming the damage: another format, unknown types, a length that is not exact
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

/** Writes cells in a format. @param more integers of the head @param tensors keys, then values */
export function writeCells(
  { magic }: BlockFormat,
  { layout, positions, tokenIds }: Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'>,
  more: readonly number[],
  tensors: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const { layers, heads, headDimension, valuesTransposed } = layout;
  const [keyType, valueType] = [layout.keyType, layout.valueType].map((type) => numberTypes.indexOf(type));
  const shape = [layers, heads, headDimension, keyType!, valueType!, Number(valuesTransposed)];
  const head = Int32Array.from([magic, VERSION, positions.length, ...shape, ...more]);
  const parts = [head, positions, tokenIds, ...tensors];
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
 * @returns `tensors`: a view of the bytes of keys and values, as many as the format says
 * @throws BenchError `bad-state` naming the damage
 */
export function readCells(
  { magic, moreIntegers, tensorBytes }: BlockFormat,
  bytes: Uint8Array,
  name: string,
): Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'> & { more: readonly number[]; tensors: Uint8Array } {
  const headBytes = (HEAD_INTEGERS + moreIntegers) * INTEGER_BYTES;
  if (bytes.length < headBytes) throw unusable(name, 'cut short');
  const head = [...readIntegers(bytes, 0, HEAD_INTEGERS + moreIntegers)];
  if (head[0] !== magic || head[1] !== VERSION) throw unusable(name, `not of version ${VERSION} of its format`);
  const cells = head[2]! >>> 0;
  const layout = readLayout(head);
  const more = head.slice(HEAD_INTEGERS);
  const expected = layout && tensorBytes(layout, cells, more);
  if (layout === undefined || expected === undefined || cells === 0) throw unusable(name, 'its head describes no KV');
  const tensorsAt = headBytes + cells * 2 * INTEGER_BYTES;
  const excess = bytes.length - tensorsAt - expected;
  if (excess !== 0) throw unusable(name, excess < 0 ? 'cut short' : `${excess} bytes too long`);
  const positions = readIntegers(bytes, headBytes, cells);
  const tokenIds = readIntegers(bytes, headBytes + cells * INTEGER_BYTES, cells);
  if (positions.some((position) => position < 0)) throw unusable(name, 'a position below 0');
  if (tokenIds.some((id) => id < -1)) throw unusable(name, 'a token below −1');
  // Not `subarray`: of a Buffer it gives Buffers, whose `slice` does not copy.
  return {
    layout,
    positions,
    tokenIds,
    more,
    tensors: new Uint8Array(bytes.buffer, bytes.byteOffset + tensorsAt, expected),
  };
}

/** The layout in a head; undefined where no KV has it. */
function readLayout(head: readonly number[]): KvLayout | undefined {
  const [layers = 0, heads = 0, headDimension = 0, keyIndex = 0, valueIndex = 0, transposed = 0] = head
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
