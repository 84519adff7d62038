import type { NumberType, SequenceState } from './sequence-state.ts';

/** Bit masks for a 32-bit word (two F16 numbers). Adding `one` to an all-ones exponent (infinity, NaN) carries into the sign bit. */
const MASKS = {
  F16: { exponents: 0x7c007c00, one: 0x04000400, signs: 0x80008000 },
  F32: { exponents: 0x7f800000, one: 0x00800000, signs: 0x80000000 },
} as const;

/**
 * True if all keys and values are finite. Others must never reach a context: attention multiplies masked cells by 0, and 0 times
 * infinity is NaN, which would corrupt every later sequence.
 */
export function hasFiniteNumbers({
  layout,
  keys,
  values,
}: Pick<SequenceState, 'keys' | 'values'> & {
  readonly layout: Pick<SequenceState['layout'], 'keyType' | 'valueType'>;
}): boolean {
  const { keyType, valueType } = layout;
  return keys.every((tensor) => allFinite(tensor, keyType)) && values.every((tensor) => allFinite(tensor, valueType));
}

export function allFinite(bytes: Uint8Array, type: NumberType): boolean {
  const { exponents, one, signs } = MASKS[type];
  // An odd number of half-precision numbers ends with half a word.
  const isWhole = bytes.byteOffset % 4 === 0 && bytes.length % 4 === 0;
  const padded = isWhole ? bytes : new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  if (!isWhole) padded.set(bytes);
  const words = new Int32Array(padded.buffer, padded.byteOffset, padded.length / 4);
  // Four independent accumulators take half the time of one.
  let [first, second, third, fourth] = [0, 0, 0, 0];
  const last = words.length - (words.length % 4);
  for (let at = 0; at < last; at += 4) {
    first |= ((words[at]! & exponents) + one) | 0;
    second |= ((words[at + 1]! & exponents) + one) | 0;
    third |= ((words[at + 2]! & exponents) + one) | 0;
    fourth |= ((words[at + 3]! & exponents) + one) | 0;
  }
  for (let at = last; at < words.length; at++) first |= ((words[at]! & exponents) + one) | 0;
  return ((first | second | third | fourth) & signs) === 0;
}
