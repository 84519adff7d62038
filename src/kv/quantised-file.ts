import { BenchError } from '../base/bench-error.ts';
import { type KvLayout, numberTypes, type SequenceState } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/store-type.ts';
import { ownedState } from './owned-state.ts';
import { quantise, quantisedBytes } from './quantised-numbers.ts';
import { readNumbers } from './read-numbers.ts';
import { RestoredTensors } from './restored-tensors.ts';
import { WorkMemory } from './work-memory.ts';

/** The bytes `DKIQ`. */
const MAGIC = 0x51494b44;
const VERSION = 1;
const INTEGER_BYTES = 4;
/** Magic, version, cells, layers, heads, dimension of a head, types of keys and of values, order of values, type at rest. */
const HEAD_INTEGERS = 10;
const HEAD_BYTES = HEAD_INTEGERS * INTEGER_BYTES;
const CELL_INTEGERS = 2;

/** Bytes of the keys and values of so many cells at rest. */
export function bytesAtRest({ layers, heads, headDimension }: KvLayout, cells: number, type: QuantisedType): number {
  return cells * layers * 2 * heads * quantisedBytes(headDimension, type);
}

/**
 * Cells whose keys and values are quantised, as memory and disk keep them; all integers in 32 bits, little-endian: the head as
 * `writeBlockFile` has it, with the type at rest behind it, positions and tokens, then the keys and the values of each layer,
 * of each cell the numbers of one head behind those of another: no block of 32 holds those of two, which may be of
 * different tokens.
 */
export function writeQuantised(
  { layout, positions, tokenIds, keys, values }: SequenceState,
  type: QuantisedType,
): Uint8Array<ArrayBuffer> {
  const cells = positions.length;
  const bytes = new Uint8Array(fileBytes(layout, cells, type));
  const head = Uint32Array.of(
    ...[MAGIC, VERSION, cells, layout.layers, layout.heads, layout.headDimension],
    ...[numberTypes.indexOf(layout.keyType), numberTypes.indexOf(layout.valueType), Number(layout.valuesTransposed)],
    quantisedTypes.indexOf(type),
  );
  const rows = (tensor: Uint8Array, numberType: KvLayout['keyType'], isTransposed: boolean): Uint8Array[] => {
    const row = layout.heads * layout.headDimension;
    const numbers = readNumbers(tensor, numberType);
    const plain = isTransposed ? transposed(numbers, row, cells) : numbers;
    const dimension = layout.headDimension;
    return Array.from({ length: cells * layout.heads }, (_, head) =>
      quantise(plain.subarray(head * dimension, (head + 1) * dimension), type),
    );
  };
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of [
    ...[head, positions, tokenIds],
    ...keys.flatMap((tensor) => rows(tensor, layout.keyType, false)),
    ...values.flatMap((tensor) => rows(tensor, layout.valueType, layout.valuesTransposed)),
  ]) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return bytes;
}

/**
 * The cells that quantised bytes stand for, in numbers of the engine's own types.
 * @throws BenchError `bad-state` for bytes that are cut short, whose head describes no K/V, or with a scale that is not finite
 */
export function readQuantised(bytes: Uint8Array, name = 'K/V block'): SequenceState {
  const head = integersIn(bytes, 0, Math.min(HEAD_INTEGERS, Math.floor(bytes.length / INTEGER_BYTES)));
  const cells = head[2]!;
  const [keyType, valueType, type] = [numberTypes[head[6]!], numberTypes[head[7]!], quantisedTypes[head[9]!]];
  const refusal = (): BenchError =>
    new BenchError('bad-state', `${name}: unusable quantised K/V`, 'delete it; it will be computed again');
  if (head[0] !== MAGIC || head[1] !== VERSION || !(cells > 0)) throw refusal();
  if (keyType === undefined || valueType === undefined || type === undefined) throw refusal();
  const [layers, heads, headDimension] = [head[3]!, head[4]!, head[5]!];
  const layout: KvLayout = { layers, heads, headDimension, keyType, valueType, valuesTransposed: head[8] === 1 };
  if (bytes.length !== fileBytes(layout, cells, type)) throw refusal();
  using work = new WorkMemory();
  const restored = new RestoredTensors(layout, cells, type, work);
  let offset = HEAD_BYTES + cells * CELL_INTEGERS * INTEGER_BYTES;
  const atRest = (): Uint8Array => bytes.subarray(offset, (offset += restored.atRestBytes));
  return ownedState({
    layout,
    positions: integersIn(bytes, HEAD_BYTES, cells),
    tokenIds: integersIn(bytes, HEAD_BYTES + cells * INTEGER_BYTES, cells),
    keys: Array.from({ length: layers }, () => restored.keys(atRest())),
    values: Array.from({ length: layers }, () => restored.values(atRest())),
  });
}

/** Of [row][column], the columns behind one another. */
function transposed(numbers: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(numbers.length);
  for (let column = 0, at = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++, at++) turned[at] = numbers[row * columns + column]!;
  }
  return turned;
}

function fileBytes(layout: KvLayout, cells: number, type: QuantisedType): number {
  return HEAD_BYTES + cells * CELL_INTEGERS * INTEGER_BYTES + bytesAtRest(layout, cells, type);
}

function integersIn(bytes: Uint8Array, offset: number, count: number): Int32Array {
  return new Int32Array(new Uint8Array(bytes.subarray(offset, offset + count * INTEGER_BYTES)).buffer);
}
