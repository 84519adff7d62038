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
import { ownedState } from './owned-state.ts';

/** The bytes `DKIB`. */
const MAGIC = 0x42494b44;
const VERSION = 1;
const INTEGER_BYTES = 4;
/** Magic, version, cells, layers, heads, dimension of a head, types of keys and of values, order of values. */
const HEAD_INTEGERS = 9;
const HEAD_BYTES = HEAD_INTEGERS * INTEGER_BYTES;
/** Position and token of a cell. */
const CELL_INTEGERS = 2;

/**
 * The bytes of a block of K/V as the disk keeps it, whatever engine computed it; all integers in 32 bits, little-endian:
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
  const { layout, positions, tokenIds, keys, values } = state;
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(fileBytes(layout, positions.length)).buffer);
  const head = Uint32Array.of(
    MAGIC,
    VERSION,
    positions.length,
    layout.layers,
    layout.heads,
    layout.headDimension,
    numberTypes.indexOf(layout.keyType),
    numberTypes.indexOf(layout.valueType),
    Number(layout.valuesTransposed),
  );
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of [head, positions, tokenIds, ...keys, ...values]) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return bytes;
}

/**
 * Reads what `writeBlockFile` wrote. Keys and values are views into the bytes, not copies. It cannot see flipped bits of
 * numbers: whoever keeps the bytes keeps a fingerprint of them.
 * @param name names the bytes in a message
 * @throws BenchError `bad-state` naming the damage: another format, unknown types, a length that is not exact
 */
export function readBlockFile(bytes: Uint8Array, name = 'K/V block'): SequenceState {
  const refusal = (why: string): BenchError =>
    new BenchError('bad-state', `${name}: unusable K/V block: ${why}`, 'delete it; it will be computed again');
  const integers = (offset: number, count: number): Int32Array =>
    new Int32Array(new Uint8Array(bytes.subarray(offset, offset + count * INTEGER_BYTES)).buffer);
  if (bytes.length < HEAD_BYTES) throw refusal('cut short');
  const head = new Uint32Array(integers(0, HEAD_INTEGERS).buffer);
  if (head[0] !== MAGIC || head[1] !== VERSION) throw refusal(`not of version ${VERSION} of its format`);
  const cells = head[2]!;
  const layout = layoutOf(head);
  if (layout === undefined || cells === 0) throw refusal('its head describes no K/V');
  const excess = bytes.length - fileBytes(layout, cells);
  if (excess !== 0) throw refusal(excess < 0 ? 'cut short' : `${excess} bytes too long`);
  const positions = integers(HEAD_BYTES, cells);
  const tokenIds = integers(HEAD_BYTES + cells * INTEGER_BYTES, cells);
  if (positions.some((position) => position < 0)) throw refusal('a position below 0');
  if (tokenIds.some((id) => id < -1)) throw refusal('a token below −1');
  let offset = HEAD_BYTES + cells * CELL_INTEGERS * INTEGER_BYTES;
  // Not `subarray`: of a Buffer it gives Buffers, whose `slice` does not copy.
  const view = (sizeBytes: number): Uint8Array =>
    new Uint8Array(bytes.buffer, bytes.byteOffset + (offset += sizeBytes) - sizeBytes, sizeBytes);
  const tensors = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => view(cells * rowBytes));
  const keys = tensors(keyRowBytes(layout));
  const values = tensors(valueRowBytes(layout));
  if (!hasFiniteNumbers({ layout, keys, values })) throw refusal('keys or values that are not finite numbers');
  return ownedState({ layout, positions, tokenIds, keys, values });
}

function fileBytes(layout: KvLayout, cells: number): number {
  return HEAD_BYTES + cells * (CELL_INTEGERS * INTEGER_BYTES + cellBytes(layout));
}

/** Undefined where no K/V looks like that. */
function layoutOf(head: Uint32Array): KvLayout | undefined {
  const [, , , layers, heads, headDimension, keyIndex, valueIndex, transposed] = head;
  const [keyType, valueType] = [numberTypes[keyIndex!], numberTypes[valueIndex!]];
  const exists = layers! > 0 && heads! > 0 && headDimension! > 0 && transposed! <= 1;
  if (!exists || keyType === undefined || valueType === undefined) return undefined;
  return {
    layers: layers!,
    heads: heads!,
    headDimension: headDimension!,
    keyType,
    valueType,
    valuesTransposed: transposed === 1,
  };
}
