import { readNumbers } from '../../base/float16.ts';
import { innerProduct, norm } from '../../base/inner-product.ts';
import { type GgufFile, type GgufTensorInfo, readFileBytes } from './gguf-file.ts';
import { bytesOfNumbers } from './tensor-types.ts';

const ROWS = 5;
/** Threshold for equal rows: 4-bit quantisation keeps more than 0.99, a separate output layer is far below. */
const MIN_COSINE = 0.95;

/**
 * Counts numbers that a model stores twice: some quantised files repeat the token embedding as the output layer, in another type.
 * Compares sampled rows, because the metadata does not tell.
 */
export function countDuplicateWeights(files: readonly GgufFile[]): number {
  const [embedding, output] = ['token_embd.weight', 'output.weight'].map((name) => findTensor(files, name));
  if (embedding === undefined || output === undefined) return 0;
  const [columns, rows] = embedding.tensor.dimensions as [number, number];
  const isSameShape = output.tensor.dimensions.every((size, index) => size === embedding.tensor.dimensions[index]);
  if (!isSameShape || embedding.tensor.dimensions.length !== 2) return 0;
  const sample = Array.from({ length: ROWS }, (_, index) => Math.floor(((index + 0.5) * rows) / ROWS));
  const [first, second] = [embedding, output].map(({ path, tensor }) => readRows(path, tensor, columns, sample));
  return first && second && innerProduct(first, second) / (norm(first) * norm(second)) >= MIN_COSINE
    ? rows * columns
    : 0;
}

function findTensor(files: readonly GgufFile[], wanted: string) {
  return files
    .flatMap(({ path, tensors }) => tensors.map((tensor) => ({ path, tensor })))
    .find(({ tensor }) => tensor.name === wanted);
}

/** Rows of a matrix, concatenated; undefined for a type that `DECODE` lacks. */
function readRows(path: string, { type, fileOffset }: GgufTensorInfo, columns: number, rows: readonly number[]) {
  const rowBytes = bytesOfNumbers(type, columns);
  const decode = DECODE[type];
  if (rowBytes === undefined || decode === undefined) return undefined;
  const blockBytes = bytesOfNumbers(type, decode.blockNumbers)!;
  return rows.flatMap((row) => {
    const bytes = readFileBytes(path, fileOffset + row * rowBytes, rowBytes);
    const starts = Array.from({ length: bytes.length / blockBytes }, (_, block) => block * blockBytes);
    return starts.flatMap((start) => decode.read(bytes.subarray(start, start + blockBytes)));
  });
}

/** Numbers per block and how to decode a block, by ggml's type id. @see ggml-quants.c of llama.cpp */
const DECODE: Readonly<Record<number, { readonly blockNumbers: number; readonly read: (bytes: Buffer) => number[] }>> =
  {
    0: { blockNumbers: 1, read: (bytes) => [bytes.readFloatLE()] }, // F32
    1: { blockNumbers: 1, read: (bytes) => [half(bytes, 0)] }, // F16
    2: { blockNumbers: 32, read: (bytes) => scaled(nibbles(bytes.subarray(2)), half(bytes, 0), -8 * half(bytes, 0)) }, // Q4_0
    3: { blockNumbers: 32, read: (bytes) => scaled(nibbles(bytes.subarray(4)), half(bytes, 0), half(bytes, 2)) }, // Q4_1
    6: { blockNumbers: 32, read: (bytes) => scaled(fiveBits(bytes), half(bytes, 0), -16 * half(bytes, 0)) }, // Q5_0
    8: { blockNumbers: 32, read: (bytes) => scaled([...new Int8Array(bytes.subarray(2))], half(bytes, 0), 0) }, // Q8_0
    12: { blockNumbers: 256, read: (bytes) => eightScales(bytes, fourBitQuarters(bytes.subarray(16))) }, // Q4_K
    14: { blockNumbers: 256, read: sixBits }, // Q6_K
    30: { blockNumbers: 1, read: (bytes) => [Buffer.from([0, 0, ...bytes]).readFloatLE()] }, // BF16
  };

function half(bytes: Buffer, at: number): number {
  return readNumbers(bytes.subarray(at, at + 2), 'F16')[0]!;
}

function scaled(levels: readonly number[], scale: number, offset: number): number[] {
  return levels.map((level) => level * scale + offset);
}

/** The lower 4 bits of all bytes, then the upper 4 bits. */
function nibbles(bytes: Buffer): number[] {
  return [...[...bytes].map((byte) => byte & 0xf), ...[...bytes].map((byte) => byte >> 4)];
}

/** Q5_0: the fifth bits of all numbers are in one word. */
function fiveBits(bytes: Buffer): number[] {
  const high = bytes.readUInt32LE(2);
  return nibbles(bytes.subarray(6)).map((level, index) => level | (((high >>> index) & 1) << 4));
}

/** Q4_K: four chunks of 32 bytes, with 64 numbers each. */
function fourBitQuarters(bytes: Buffer): number[] {
  return [0, 32, 64, 96].flatMap((start) => nibbles(bytes.subarray(start, start + 32)));
}

/** Q4_K: eight groups of 32 numbers, each with a 6-bit scale and a 6-bit minimum, packed into 12 bytes. */
function eightScales(bytes: Buffer, levels: readonly number[]): number[] {
  const [scale, minimum] = [half(bytes, 0), half(bytes, 2)];
  const packed = bytes.subarray(4, 16);
  return levels.map((level, index) => {
    const group = index >> 5;
    const [own, min] =
      group < 4
        ? [packed[group]! & 63, packed[group + 4]! & 63]
        : [
            (packed[group + 4]! & 0xf) | ((packed[group - 4]! >> 6) << 4),
            (packed[group + 4]! >> 4) | ((packed[group]! >> 6) << 4),
          ];
    return scale * own * level - minimum * min;
  });
}

/** Q6_K: for each 128 numbers, 64 bytes have the lower four bits and 32 bytes the upper two; every 16 numbers share a scale. */
function sixBits(bytes: Buffer): number[] {
  const scale = half(bytes, 208);
  return Array.from({ length: 256 }, (_, index) => {
    const [part, quarter, at] = [index >> 7, (index >> 5) & 3, index & 31];
    const low = bytes[part * 64 + (quarter & 1) * 32 + at]! >> (quarter >= 2 ? 4 : 0);
    const high = bytes[128 + part * 32 + at]! >> (2 * quarter);
    const level = ((low & 0xf) | ((high & 3) << 4)) - 32;
    return scale * bytes.readInt8(192 + part * 8 + quarter * 2 + (at >> 4)) * level;
  });
}
