import type { NumberType, SequenceState } from './sequence-state.ts';

const WORD_BYTES = 4;
/** Words that the loop looks at in one round. */
const ROUND_WORDS = 4;
/** The exponents of the numbers in a word: two of half precision, or one of single precision. */
const EXPONENTS = { F16: 0x7c007c00, F32: 0x7f800000 } as const;
/** Added to an exponent that is all ones, it carries into the sign. */
const ONE = { F16: 0x04000400, F32: 0x00800000 } as const;
/** The lower number of a word. */
const HALF = 0xffff;
const SIGNS = { F16: 0x80008000 | 0, F32: 0x80000000 | 0 } as const;

/**
 * True where all keys and values are finite. One that is not must never reach a context: attention multiplies it by 0 where it
 * is masked, which gives no number, for whichever sequence comes later.
 */
export function hasFiniteNumbers({ layout, keys, values }: Pick<SequenceState, 'layout' | 'keys' | 'values'>): boolean {
  return (
    keys.every((tensor) => allFinite(tensor, layout.keyType)) &&
    values.every((tensor) => allFinite(tensor, layout.valueType))
  );
}

/** True where all numbers are finite. */
export function allFinite(bytes: Uint8Array, type: NumberType): boolean {
  const aligned = bytes.byteOffset % WORD_BYTES === 0 ? bytes : new Uint8Array(bytes);
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / WORD_BYTES));
  const exponents = EXPONENTS[type];
  const one = ONE[type];
  const whole = words.length - (words.length % ROUND_WORDS);
  // Four sums that do not wait for each other; `| 0` keeps them 32-bit integers.
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let at = 0; at < whole; at += ROUND_WORDS) {
    first |= ((words[at]! & exponents) + one) | 0;
    second |= ((words[at + 1]! & exponents) + one) | 0;
    third |= ((words[at + 2]! & exponents) + one) | 0;
    fourth |= ((words[at + 3]! & exponents) + one) | 0;
  }
  for (let at = whole; at < words.length; at++) first |= ((words[at]! & exponents) + one) | 0;
  // Of an odd number of half-precision numbers the last is no whole word.
  if (bytes.length % WORD_BYTES !== 0) {
    const last = bytes[bytes.length - 2]! | (bytes[bytes.length - 1]! << 8);
    fourth |= ((last & exponents) + one) & SIGNS[type] & HALF;
  }
  return ((first | second | third | fourth) & SIGNS[type]) === 0;
}
