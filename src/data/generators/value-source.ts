import type { Grammar } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { fill } from './wording.ts';
import { crc32 } from 'node:zlib';

/** Draws one value of a kind, held out or not. */
export type ValueSource = (random: SeededRandom, heldOut: boolean) => string;

const DIGITS = [...'0123456789'];
const LETTERS = [...'ABCDEFGHJKLMNPQRSTUVWXYZ'];

export function repeated(random: SeededRandom, alphabet: readonly string[], low: number, high: number): string {
  return Array.from({ length: random.int(low, high) }, () => random.pick(alphabet)).join('');
}

/** Source of nonce values, with a share of real words, so that models see both. */
export function realOr(
  { values }: Grammar,
  kind: string,
  share: number,
  nonce: (random: SeededRandom) => string,
): ValueSource {
  const real = values[kind]?.real ?? [];
  const sides = {
    heldOut: real.filter((value) => isHeldOutValue(value)),
    known: real.filter((value) => !isHeldOutValue(value)),
  };
  return (random, heldOut) => {
    const list = heldOut ? sides.heldOut : sides.known;
    if (list.length > 0 && random.chance(heldOut ? 0.05 : share)) return random.pick(list);
    return drawn(heldOut, () => nonce(random));
  };
}

/** Source of codes: four to six digits, two letters and digits, or a word and digits. */
export function codeSource(word: (random: SeededRandom) => string): ValueSource {
  return fresh((random) => {
    const shape = random.float();
    if (shape < 0.5) return repeated(random, DIGITS, 4, 6);
    if (shape < 0.8) return `${repeated(random, LETTERS, 2, 2)}-${repeated(random, DIGITS, 2, 4)}`;
    return word(random) + repeated(random, DIGITS, 2, 2);
  });
}

export const numberSource: ValueSource = fresh((random) => repeated(random, DIGITS, 3, 6));

/** Source of dates: a month and a day. */
export function dateSource({ date, months }: Grammar): ValueSource {
  return fresh((random) => fill(date, { m: random.pick(months), d: String(random.int(1, 31)) }));
}

/** Source of times, such as `9:05`. */
export const timeSource: ValueSource = fresh(
  (random) => `${random.int(0, 23)}:${String(random.int(0, 59)).padStart(2, '0')}`,
);

/** Source of generated values only. */
export function fresh(draw: (random: SeededRandom) => string): ValueSource {
  return (random, heldOut) => drawn(heldOut, () => draw(random));
}

/**
 * Separates held-out values from those of training: a value is held out if and only if crc32 of its lower-case UTF-8 text
 * is a multiple of ten.
 */
export function isHeldOutValue(value: string): boolean {
  return crc32(value.toLowerCase()) % 10 === 0;
}

/** Draws until the value is held out, or is not, as wanted. */
export function drawn(heldOut: boolean, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (isHeldOutValue(value) === heldOut) return value;
  }
}
