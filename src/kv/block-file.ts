import { BenchError } from '../base/bench-error.ts';
import { hasFiniteNumbers } from '../engine/finite-numbers.ts';
import {
  cellBytes,
  keyRowBytes,
  type KvLayout,
  numberTypes,
  type SequenceState,
  valueRowBytes,
} from '../engine/sequence-state.ts';
import { ownedState } from './cut-cells.ts';

/** The bytes `DKIB`. */
const MAGIC = 0x42494b44;
export const FILE_VERSION = 1;
export const INTEGER_BYTES = 4;
const HEAD_INTEGERS = 9;
/** Position and token of a cell. */
export const CELL_INTEGER_BYTES = 2 * INTEGER_BYTES;

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
  return concatenate(fileBytes(state.layout, state.positions.length), [
    Uint32Array.from([MAGIC, ...describe(state)]),
    state.positions,
    state.tokenIds,
    ...state.keys,
    ...state.values,
  ]);
}

/**
 * Reads what `writeBlockFile` wrote. Keys and values are views into the bytes. Flipped bits of numbers are not detected: a
 * store keeps a fingerprint of the bytes.
 * @param name names the bytes in a message
 * @throws BenchError `bad-state` naming the damage: another format, unknown types, a length that is not exact
 */
export function readBlockFile(bytes: Uint8Array, name = 'KV block'): SequenceState {
  const refusal = (why: string): BenchError =>
    new BenchError('bad-state', `${name}: unusable KV block: ${why}`, 'delete it; it will be computed again');
  const headBytes = HEAD_INTEGERS * INTEGER_BYTES;
  if (bytes.length < headBytes) throw refusal('cut short');
  const [magic, version, ...description] = readIntegers(bytes, 0, HEAD_INTEGERS);
  if (magic !== MAGIC || version !== FILE_VERSION) throw refusal(`not of version ${FILE_VERSION} of its format`);
  const cells = description[0]! >>> 0;
  const layout = readLayout(description);
  if (layout === undefined || cells === 0) throw refusal('its head describes no KV');
  const excess = bytes.length - fileBytes(layout, cells);
  if (excess !== 0) throw refusal(excess < 0 ? 'cut short' : `${excess} bytes too long`);
  const positions = readIntegers(bytes, headBytes, cells);
  const tokenIds = readIntegers(bytes, headBytes + cells * INTEGER_BYTES, cells);
  if (positions.some((position) => position < 0)) throw refusal('a position below 0');
  if (tokenIds.some((id) => id < -1)) throw refusal('a token below −1');
  let offset = bytes.byteOffset + headBytes + cells * CELL_INTEGER_BYTES;
  // Not `subarray`: of a Buffer it gives Buffers, whose `slice` does not copy.
  const tensors = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => {
      const sizeBytes = cells * rowBytes;
      return new Uint8Array(bytes.buffer, (offset += sizeBytes) - sizeBytes, sizeBytes);
    });
  const keys = tensors(keyRowBytes(layout));
  const values = tensors(valueRowBytes(layout));
  if (!hasFiniteNumbers({ layout, keys, values })) throw refusal('keys or values that are not finite numbers');
  return ownedState({ layout, positions, tokenIds, keys, values });
}

function fileBytes(layout: KvLayout, cells: number): number {
  return HEAD_INTEGERS * INTEGER_BYTES + cells * (CELL_INTEGER_BYTES + cellBytes(layout));
}

/** The integers of a head behind its magic number. */
export function describe({ layout, positions }: Pick<SequenceState, 'layout' | 'positions'>): number[] {
  return [
    FILE_VERSION,
    positions.length,
    layout.layers,
    layout.heads,
    layout.headDimension,
    numberTypes.indexOf(layout.keyType),
    numberTypes.indexOf(layout.valueType),
    Number(layout.valuesTransposed),
  ];
}

/** @param description the integers of a head behind its version; undefined where no KV has that layout */
export function readLayout(description: readonly number[]): KvLayout | undefined {
  const [, layers = 0, heads = 0, headDimension = 0, keyIndex, valueIndex, transposed = 2] = description.map(
    (integer) => integer >>> 0,
  );
  const [keyType, valueType] = [numberTypes[keyIndex!], numberTypes[valueIndex!]];
  if (keyType === undefined || valueType === undefined || layers * heads * headDimension === 0 || transposed > 1) {
    return undefined;
  }
  return { layers, heads, headDimension, keyType, valueType, valuesTransposed: transposed === 1 };
}

/** Copies arrays behind one another. */
export function concatenate(sizeBytes: number, parts: readonly ArrayBufferView[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(sizeBytes).buffer);
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return bytes;
}

export function readIntegers(bytes: Uint8Array, offset: number, count: number): Int32Array {
  return new Int32Array(new Uint8Array(bytes.subarray(offset, offset + count * INTEGER_BYTES)).buffer);
}
