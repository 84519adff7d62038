const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

const MIN_NORMAL = 0x38800000;
const BIAS = 0x38000000;
const LARGEST_HALF = 0x7bff;

export const LARGEST_FLOAT16 = 65_504;

/**
 * The bits of the nearest half-precision number, ties to even, at most the largest finite one.
 * @throws RangeError for NaN and infinity @see IEEE 754, binary16
 */
export function encodeFloat16(number: number): number {
  if (!Number.isFinite(number)) throw new RangeError(`${number} is not finite`);
  single[0] = number;
  const sign = (singleBits[0]! >>> 16) & 0x8000;
  const magnitude = singleBits[0]! & 0x7fffffff;
  if (magnitude < MIN_NORMAL) return sign | roundToEven(Math.abs(number) * 2 ** 24);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | Math.min((rounded - BIAS) >>> 13, LARGEST_HALF);
}

function roundToEven(number: number): number {
  const below = Math.floor(number);
  const rest = number - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
}

/** The number that these 16 bits encode. */
function decodeFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

let decoded: Float32Array | undefined;

/** Decodes bytes to 32-bit floats, which hold both types exactly. */
export function readNumbers(bytes: Uint8Array, type: 'F32' | 'F16'): Float32Array {
  // A copy, since a view may begin at an unaligned address.
  const { buffer } = new Uint8Array(bytes);
  if (type === 'F32') return new Float32Array(buffer);
  const table = (decoded ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => decodeFloat16(bits)));
  return Float32Array.from(new Uint16Array(buffer), (bits) => table[bits]!);
}
