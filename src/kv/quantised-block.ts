import { BenchError } from '../base/bench-error.ts';
import { hasFiniteNumbers } from '../engine/finite-numbers.ts';
import {
  cellBytes,
  type KvLayout,
  numberBytes,
  type NumberType,
  ownedState,
  type SequenceState,
} from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/prefill-record.ts';
import { ArenaScratch } from './arena-cells.ts';
import { type BlockFormat, readCells, writeCells } from './block-file.ts';
import { wholeMemory } from './wasm-arena.ts';
import { encodeFloat16, LARGEST_FLOAT16, readNumbers } from '../base/float16.ts';
import { GROUP, groupBytes, kernelChoice, SCALE_BYTES, wasm } from './kernels.ts';
import { unusableNumbers } from './rotate-keys.ts';

function quantisedBytes(numbers: number, type: QuantisedType): number {
  return Math.ceil(numbers / GROUP) * groupBytes[type];
}

export function quantisedCellBytes({ layers, heads, headDimension }: KvLayout, cells: number, type: QuantisedType) {
  return cells * layers * 2 * heads * quantisedBytes(headDimension, type);
}

/** The bytes `DKIQ`; the file header ends with the index of the quantised type. */
const quantisedFormat: BlockFormat = {
  magic: 0x51494b44,
  moreIntegers: 1,
  tensorBytes: (layout, cells, [typeIndex]) => {
    const type = quantisedTypes[typeIndex!];
    return type && quantisedCellBytes(layout, cells, type);
  },
};

/**
 * Quantises numbers in ggml's groups of 32. `q8_0`: the scale is the largest magnitude ÷ 127; each number is an 8-bit integer.
 * `q4_0`: the scale is the number with the largest magnitude ÷ −8; a byte holds two 4-bit numbers of a group, number i in its
 * lower and number i + 16 in its upper half. An incomplete last group is padded with zeros. Arithmetic is that of ggml, in 32 bits.
 * @throws BenchError `bad-state` if a scale is over 65,504, the largest number of 16 bits
 * @see ggml, `quantize_row_q8_0_ref` and `quantize_row_q4_0_ref`
 */
export function quantise(numbers: Float32Array, type: QuantisedType): Uint8Array {
  const bytes = new Uint8Array(quantisedBytes(numbers.length, type));
  const group = new Float32Array(GROUP);
  for (let start = 0, at = 0; start < numbers.length; start += GROUP, at += groupBytes[type]) {
    group.fill(0);
    group.set(numbers.subarray(start, start + GROUP));
    const extreme = group.reduce((most, number) => (Math.abs(number) > Math.abs(most) ? number : most), 0);
    const scale = Math.fround(type === 'q8_0' ? Math.abs(extreme) / 127 : extreme / -8);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    if (Math.abs(scale) > LARGEST_FLOAT16) throw unquantisable(type, 'too large');
    const half = encodeFloat16(scale);
    bytes.set([half & 0xff, half >> 8], at);
    const levels = bytes.subarray(at + SCALE_BYTES, at + groupBytes[type]);
    for (let index = 0; index < levels.length; index++) {
      levels[index] =
        type === 'q8_0'
          ? roundAwayFromZero(Math.fround(group[index]! * inverse))
          : fourBits(group[index]! * inverse) | (fourBits(group[index + GROUP / 2]! * inverse) << 4);
    }
  }
  return bytes;
}

function unquantisable(type: QuantisedType, why: string): BenchError {
  const message = `KV cannot be stored as ${type}: it has keys or values that are ${why}`;
  return new BenchError('bad-state', message, 'use another model file, or an arm without @store');
}

function roundAwayFromZero(number: number): number {
  return Math.sign(number) * Math.floor(Math.abs(number) + 0.5);
}

function fourBits(number: number): number {
  return Math.min(15, Math.trunc(number + 8.5));
}

/**
 * Quantises cells into the bytes that memory and disk store: the header of a block file with the quantised type, positions,
 * tokens, then keys and values of each layer as [cell][head][dimension]. Each head begins a new group, since the heads of a cell
 * may hold different tokens.
 * @throws BenchError `bad-state` for numbers that are not finite, or too large
 */
export function writeQuantised(state: SequenceState, type: QuantisedType): Uint8Array<ArrayBuffer> {
  if (!hasFiniteNumbers(state)) throw unquantisable(type, 'not finite');
  const { layout, keys, values } = state;
  const cells = state.positions.length;
  const dimension = layout.headDimension;
  const heads = (numbers: Float32Array): Uint8Array[] =>
    Array.from({ length: cells * layout.heads }, (_, head) =>
      quantise(numbers.subarray(head * dimension, (head + 1) * dimension), type),
    );
  const tensors = [
    ...keys.flatMap((tensor) => heads(readNumbers(tensor, layout.keyType))),
    ...values.flatMap((tensor) => {
      const numbers = readNumbers(tensor, layout.valueType);
      return heads(layout.valuesTransposed ? transpose(numbers, cells) : numbers);
    }),
  ];
  return writeCells(quantisedFormat, state, [quantisedTypes.indexOf(type)], tensors);
}

function transpose(numbers: Float32Array, columns: number): Float32Array {
  const rows = numbers.length / columns;
  return numbers.map((_, at) => numbers[(at % rows) * columns + Math.floor(at / rows)]!);
}

/**
 * Restores quantised cells to the engine's number types.
 * @throws BenchError `bad-state` if bytes are cut short, the file header is invalid, or a scale is not finite
 */
export function readQuantised(bytes: Uint8Array, name = 'KV block'): SequenceState {
  const { layout, positions, tokenIds, more, tensors } = readCells(quantisedFormat, bytes, name);
  const restored = restoreTensors(tensors, layout, positions.length, quantisedTypes[more[0]!]!);
  return ownedState({ layout, positions, tokenIds, ...restored });
}

/** Restored bytes that are in the arena at a time, so that they stay in the processor's cache. */
const BYTES_AT_ONCE = 256 * 1024;

/** Restores some layers at a time in the arena, then copies them to plain memory, where all tensors share one buffer. */
function restoreTensors(bytes: Uint8Array, layout: KvLayout, cells: number, type: QuantisedType) {
  const { layers, heads, headDimension, keyType, valueType, valuesTransposed } = layout;
  const columns = heads * headDimension;
  const tensorBytes = cells * heads * quantisedBytes(headDimension, type);
  const mostBytes = cells * columns * numberBytes('F32');
  const atOnce = Math.min(layers, Math.max(1, Math.floor(BYTES_AT_ONCE / mostBytes)));
  using scratch = new ArenaScratch();
  const source = scratch.take(atOnce * tensorBytes);
  // The kernel writes whole groups, so it may write beyond the last head.
  const rowsAt = scratch.take(atOnce * mostBytes + GROUP * numberBytes('F32'));
  const transposedAt = scratch.take(atOnce * mostBytes);
  const memory = new Uint8Array(Buffer.allocUnsafeSlow(cells * cellBytes(layout)).buffer);
  // If heads end within a group, restore them one by one: each overwrites the padding of the one before.
  const rangesPerLayer = headDimension % GROUP === 0 ? undefined : cells * heads;
  const { kernels } = kernelChoice();
  let used = 0;
  const restore = (first: number, count: number, into: NumberType, what: 'keys' | 'values'): Uint8Array[] => {
    const sizeBytes = cells * columns * numberBytes(into);
    wholeMemory().set(bytes.subarray(first * tensorBytes, (first + count) * tensorBytes), source);
    const ranges = rangesPerLayer === undefined ? 1 : count * rangesPerLayer;
    const sources = rangeStarts(source, ranges, count * tensorBytes);
    const targets = rangeStarts(rowsAt, ranges, count * sizeBytes);
    if (!kernels.restore(type, into, { sources, targets, sizeBytes: (count * tensorBytes) / ranges })) {
      throw unusableNumbers(what);
    }
    const isTransposed = what === 'values' && valuesTransposed;
    for (let layer = 0; isTransposed && layer < count; layer++) {
      wasm[`transpose${into}`](rowsAt + layer * sizeBytes, cells, columns, transposedAt + layer * sizeBytes);
    }
    const at = isTransposed ? transposedAt : rowsAt;
    memory.set(wholeMemory().subarray(at, at + count * sizeBytes), used);
    return Array.from({ length: count }, () => memory.subarray(used, (used += sizeBytes)));
  };
  const restoreLayers = (first: number, into: NumberType, what: 'keys' | 'values'): Uint8Array[] => {
    const begins = Array.from({ length: Math.ceil(layers / atOnce) }, (_, part) => part * atOnce);
    return begins.flatMap((begin) => restore(first + begin, Math.min(atOnce, layers - begin), into, what));
  };
  return { keys: restoreLayers(0, keyType, 'keys'), values: restoreLayers(layers, valueType, 'values') };
}

/** Start addresses of `count` equal parts of `sizeBytes` bytes from an address. */
function rangeStarts(address: number, count: number, sizeBytes: number): number[] {
  return Array.from({ length: count }, (_, index) => address + (index * sizeBytes) / count);
}
