import type { NumberType } from '../engine/sequence-state.ts';

const HALVES = 2 ** 16;

let halves: Float32Array | undefined;

/** The numbers of stored bytes, as 32-bit floats, which hold those of either type exactly. */
export function readNumbers(bytes: Uint8Array, type: NumberType): Float32Array {
  // A copy: a view may begin where no number may.
  const { buffer } = new Uint8Array(bytes);
  if (type === 'F32') return new Float32Array(buffer);
  const known = allHalves();
  const stored = new Uint16Array(buffer);
  const numbers = new Float32Array(stored.length);
  for (let at = 0; at < stored.length; at++) numbers[at] = known[stored[at]!]!;
  return numbers;
}

function allHalves(): Float32Array {
  return (halves ??= Float32Array.from({ length: HALVES }, (_, bits) => halfPrecision(bits)));
}

/** The number that 16 bits stand for. @see IEEE 754, binary16 */
function halfPrecision(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
