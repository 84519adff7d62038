import { type KvLayout, numberBytes, type Rotary } from '../sequence-state.ts';
import type { ParsedState } from '../llama-state/state-file.ts';

/** Of a rotated number, as a part of the largest key: twice the rounding of half precision. */
const TOLERANCE = 2 ** -9;
const HALF_FRACTION = 2 ** 10;

/**
 * True where the keys of the first layer are those of one token, rotated to their positions as RoPE's numbers say. In that
 * layer keys have no context, so that nothing but position tells them apart.
 * @param state of one token evaluated at every position from 0 on
 */
export function isRotatedAs(state: ParsedState, layout: KvLayout, rotary: Rotary): boolean {
  const cells = state.positions.length;
  const width = layout.heads * layout.headDimension;
  const read = readerOf(state.keys[0]!, layout);
  const rowAt = (position: number): Float64Array => {
    const cell = state.positions.indexOf(position);
    return Float64Array.from({ length: width }, (_, at) => read(cell * width + at));
  };
  const first = rowAt(0);
  const largest = first.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  let moved = 0;
  for (let position = 1; position < cells; position++) {
    const expected = rotated(first, position, layout.headDimension, rotary);
    const found = rowAt(position);
    if (found.some((number, at) => Math.abs(number - expected[at]!) > TOLERANCE * largest)) return false;
    moved = Math.max(moved, ...found.map((number, at) => Math.abs(number - first[at]!)));
  }
  // Keys that do not move at all prove nothing.
  return moved > TOLERANCE * largest;
}

function rotated(row: Float64Array, positions: number, headDimension: number, rotary: Rotary): Float64Array {
  const { base, scale, pairing, dimensions, factors } = rotary;
  const out = row.slice();
  for (let head = 0; head < row.length; head += headDimension) {
    for (let pair = 0; pair < dimensions / 2; pair++) {
      const angle = (positions * scale * base ** ((-2 * pair) / dimensions)) / (factors?.[pair] ?? 1);
      const [x, y] =
        pairing === 'norm' ? [head + 2 * pair, head + 2 * pair + 1] : [head + pair, head + pair + dimensions / 2];
      out[x] = row[x]! * Math.cos(angle) - row[y]! * Math.sin(angle);
      out[y] = row[x]! * Math.sin(angle) + row[y]! * Math.cos(angle);
    }
  }
  return out;
}

/** Reads numbers by their index. */
function readerOf(bytes: Uint8Array, { keyType }: KvLayout): (index: number) => number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = numberBytes(keyType);
  return keyType === 'F32'
    ? (index) => view.getFloat32(index * size, true)
    : (index) => fromHalf(view.getUint16(index * size, true));
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = (bits & 0x3ff) / HALF_FRACTION;
  if (exponent === 0) return sign * 2 ** -14 * fraction;
  return exponent === 0x1f ? NaN : sign * 2 ** (exponent - 15) * (1 + fraction);
}
