const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

const LEAST_NORMAL = 0x38800000;
const BIAS = 0x38000000;
const LARGEST_HALF = 0x7bff;

/** The bits of the nearest number in half precision, ties to even; what is too large becomes the largest. @see IEEE 754, binary16 */
export function halfOf(number: number): number {
  single[0] = number;
  const sign = (bits[0]! >>> 16) & 0x8000;
  const magnitude = bits[0]! & 0x7fffffff;
  if (magnitude < LEAST_NORMAL) return sign | toEven(Math.abs(number) * 2 ** 24);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | Math.min((rounded - BIAS) >>> 13, LARGEST_HALF);
}

function toEven(number: number): number {
  const below = Math.floor(number);
  const rest = number - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
}
