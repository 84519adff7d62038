import { open } from 'node:fs/promises';
import { bytesOfNumbers, countNumbers, tensorTypeId } from '../tensor-types.ts';
import { encodeGgufHeader, lengthAndText, padding, u32, u64 } from '../gguf-file.ts';

/** A metadata value: an unsigned integer, a text, a flag, a 32-bit float, or a list. */
export type GgufValue =
  | number
  | string
  | boolean
  | { readonly float: number }
  | { readonly texts: readonly string[] }
  | { readonly integers: readonly number[] };

export type GgufTensorType = 'F32' | 'F16' | 'Q4_0' | 'Q4_1' | 'Q5_0' | 'Q8_0' | 'Q4_K' | 'Q5_K' | 'Q6_K';

/** A tensor to be generated while it is written. */
export interface GgufTensor {
  readonly name: string;
  /** Fastest-varying dimension first, as in GGUF. */
  readonly dimensions: readonly number[];
  readonly type: GgufTensorType;
  /** Fills the next bytes of the tensor, given as 32-bit words. Called with whole blocks of its type. */
  readonly fill: (words: Uint32Array) => void;
}

const WORD_BYTES = 4;
const CHUNK_BYTES = 8 * 2 ** 20;
/** Divisible by the block size of every type. */
const BLOCK_NUMBERS = 256;
const VALUE_TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 };

/** Encodes everything before the tensor data of a GGUF file. */
export function encodeHeader(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const pairs = Object.entries(metadata).flatMap(([key, value]) => [lengthAndText(key), ...typed(value)]);
  return encodeGgufHeader(
    { count: Object.keys(metadata).length, bytes: Buffer.concat(pairs) },
    tensors.map((tensor) => ({ ...tensor, type: tensorTypeId(tensor.type), sizeBytes: tensorBytes(tensor) })),
  );
}

/** Writes a GGUF file, a few megabytes at a time. @throws NodeJS.ErrnoException */
export async function writeGguf(path: string, header: Uint8Array, tensors: readonly GgufTensor[]): Promise<void> {
  await using file = await open(path, 'wx');
  await file.writeFile(header);
  const chunk = new Uint32Array(CHUNK_BYTES / WORD_BYTES);
  for (const tensor of tensors) {
    const sizeBytes = tensorBytes(tensor);
    const blockBytes = WORD_BYTES * bytesOfNumbers(tensorTypeId(tensor.type), BLOCK_NUMBERS)!;
    const chunkBytes = Math.floor(CHUNK_BYTES / blockBytes) * blockBytes;
    for (let written = 0; written < sizeBytes; written += chunkBytes) {
      const words = chunk.subarray(0, Math.min(chunkBytes, sizeBytes - written) / WORD_BYTES);
      tensor.fill(words);
      await file.writeFile(new Uint8Array(words.buffer, 0, words.byteLength));
    }
    await file.writeFile(new Uint8Array(padding(sizeBytes)));
  }
}

function tensorBytes({ dimensions, type }: GgufTensor): number {
  return bytesOfNumbers(tensorTypeId(type), countNumbers(dimensions))!;
}

function typed(value: GgufValue): Buffer[] {
  if (typeof value === 'number') return [u32(VALUE_TYPE.uint32), u32(value)];
  if (typeof value === 'boolean') return [u32(VALUE_TYPE.bool), Buffer.from([value ? 1 : 0])];
  if (typeof value === 'string') return [u32(VALUE_TYPE.string), lengthAndText(value)];
  if ('float' in value) return [u32(VALUE_TYPE.float32), Buffer.from(Float32Array.of(value.float).buffer)];
  if ('texts' in value)
    return [...array(VALUE_TYPE.string, value.texts.length), Buffer.concat(value.texts.map(lengthAndText))];
  return [...array(VALUE_TYPE.int32, value.integers.length), Buffer.from(Int32Array.from(value.integers).buffer)];
}

function array(elementType: number, length: number): Buffer[] {
  return [u32(VALUE_TYPE.array), u32(elementType), u64(length)];
}
