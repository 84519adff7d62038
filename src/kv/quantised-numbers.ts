import type { QuantisedType } from '../store/records/store-type.ts';
import { halfOf } from './half-of.ts';

/** Numbers that share a scale. */
export const NUMBERS_OF_BLOCK = 32;
const SCALE_BYTES = 2;

/** Bytes of 32 numbers: a scale in half precision, and 8 or 4 bits of each. */
const blockBytes: Readonly<Record<QuantisedType, number>> = { q8_0: SCALE_BYTES + 32, q4_0: SCALE_BYTES + 16 };

/** Bytes of so many numbers. */
export function quantisedBytes(numbers: number, type: QuantisedType): number {
  return Math.ceil(numbers / NUMBERS_OF_BLOCK) * blockBytes[type];
}

/**
 * Numbers in ggml's layout of blocks of 32: `q8_0` a scale $d$ of the largest magnitude over 127 and whole numbers of 8 bits;
 * `q4_0` a scale of the number of largest magnitude over −8 and 4 bits each, the second sixteen in the upper halves of bytes.
 * A last block that is not full ends with zeros. Arithmetic is that of ggml, in 32 bits.
 * @see ggml, `quantize_row_q8_0_ref` and `quantize_row_q4_0_ref`
 */
export function quantise(numbers: Float32Array, type: QuantisedType): Uint8Array {
  const bytes = new Uint8Array(quantisedBytes(numbers.length, type));
  const block = new Float32Array(NUMBERS_OF_BLOCK);
  const write = type === 'q8_0' ? write8 : write4;
  for (let start = 0, at = 0; start < numbers.length; start += NUMBERS_OF_BLOCK, at += blockBytes[type]) {
    block.fill(0);
    block.set(numbers.subarray(start, start + NUMBERS_OF_BLOCK));
    write(block, bytes.subarray(at, at + blockBytes[type]));
  }
  return bytes;
}

function write8(block: Float32Array, bytes: Uint8Array): void {
  const largest = block.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const scale = Math.fround(largest / 127);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  writeScale(bytes, scale);
  block.forEach((number, at) => {
    const scaled = Math.fround(number * inverse);
    // Halves go away from zero.
    bytes[SCALE_BYTES + at] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
  });
}

function write4(block: Float32Array, bytes: Uint8Array): void {
  const extreme = block.reduce((most, number) => (Math.abs(number) > Math.abs(most) ? number : most), 0);
  const scale = Math.fround(extreme / -8);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  writeScale(bytes, scale);
  const level = (number: number): number => Math.min(15, Math.trunc(number * inverse + 8.5));
  for (let at = 0; at < NUMBERS_OF_BLOCK / 2; at++) {
    bytes[SCALE_BYTES + at] = level(block[at]!) | (level(block[at + NUMBERS_OF_BLOCK / 2]!) << 4);
  }
}

function writeScale(bytes: Uint8Array, scale: number): void {
  const half = halfOf(scale);
  bytes[0] = half & 0xff;
  bytes[1] = half >> 8;
}
