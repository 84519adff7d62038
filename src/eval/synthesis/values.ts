import { crc32 } from 'node:zlib';
import { templates } from '../../config/templates.ts';
import type { SeededRandom } from '../random.ts';

/**
 * The rule that keeps evaluation apart from training: a value belongs to the evaluation
 * if and only if crc32 of its lower-case UTF-8 text is a multiple of ten.
 */
export function isHeldOutValue(value: string): boolean {
  return crc32(value.toLowerCase()) % 10 === 0;
}

/** Draws one value of a kind, from the held-out tenth or from the rest. */
type ValueSource = (random: SeededRandom, heldOut: boolean) => string;

const DIGITS = [...'0123456789'];
const LETTERS = [...'ABCDEFGHJKLMNPQRSTUVWXYZ'];

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function repeated(random: SeededRandom, alphabet: readonly string[], low: number, high: number): string {
  return Array.from({ length: random.int(low, high) }, () => random.pick(alphabet)).join('');
}

/** Redraws until the value falls on the wanted side of the hash rule. */
function drawn(heldOut: boolean, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (isHeldOutValue(value) === heldOut) return value;
  }
}

function pseudoword(random: SeededRandom, low: number, high: number): string {
  const { onsets, vowels, codas } = templates.syllables;
  const syllables = random.int(low, high);
  let word = '';
  for (let index = 0; index < syllables; index++) {
    word += random.pick(onsets) + random.pick(vowels);
    if (index === syllables - 1 || random.chance(0.35)) word += random.pick(codas);
  }
  return word;
}

/** A pronounceable word that no dictionary holds, such as "brenko". */
export function nonceWord(random: SeededRandom, heldOut: boolean, low = 2, high = 3): string {
  return drawn(heldOut, () => pseudoword(random, low, high));
}

/** Real words of the kind now and then, so that the model does not see nonce words alone. */
function realOr(kind: string, share: number, nonce: (random: SeededRandom) => string): ValueSource {
  const real = templates.values[kind]?.real ?? [];
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

const word = (random: SeededRandom): string => pseudoword(random, 2, 3);

const phrase = (random: SeededRandom): string =>
  random.chance(0.12) ? `${word(random)} ${word(random)}` : word(random);

function name(random: SeededRandom): string {
  const first = capitalised(pseudoword(random, random.chance(0.15) ? 1 : 2, 3));
  return random.chance(0.1) ? `${first} ${capitalised(word(random))}` : first;
}

function place(random: SeededRandom): string {
  const base = capitalised(word(random));
  return random.chance(0.1) ? `${random.pick(['New', 'Port', 'Lake', 'Mount'])} ${base}` : base;
}

function code(random: SeededRandom): string {
  const shape = random.float();
  if (shape < 0.5) return repeated(random, DIGITS, 4, 6);
  if (shape < 0.8) return `${repeated(random, LETTERS, 2, 2)}-${repeated(random, DIGITS, 2, 4)}`;
  return word(random) + repeated(random, DIGITS, 2, 2);
}

function spot(random: SeededRandom): string {
  const adjective = random.chance(0.3) ? `${random.pick(templates.adjectives)} ` : '';
  return `${random.pick(['under the', 'behind the', 'in the', 'next to the', 'on the'])} ${adjective}${word(random)}`;
}

const fresh =
  (draw: (random: SeededRandom) => string): ValueSource =>
  (random, heldOut) =>
    drawn(heldOut, () => draw(random));

const sources: Readonly<Record<string, ValueSource>> = {
  name: realOr('name', 0.12, name),
  place: realOr('place', 0.15, place),
  food: realOr('food', 0.4, phrase),
  drink: realOr('drink', 0.4, phrase),
  colour: realOr('colour', 0.4, phrase),
  allergen: realOr('allergen', 0.4, phrase),
  hobby: realOr('hobby', 0.4, phrase),
  instrument: realOr('instrument', 0.4, phrase),
  language: realOr('language', 0.4, (random) => capitalised(word(random))),
  job: realOr('job', 0.4, (random) => `a ${word(random)}`),
  title: fresh((random) => capitalised(phrase(random))),
  code: fresh(code),
  number: fresh((random) => repeated(random, DIGITS, 3, 6)),
  date: fresh((random) => `${random.pick(templates.months)} ${random.int(1, 31)}`),
  time: fresh((random) => `${random.int(0, 23)}:${String(random.int(0, 59)).padStart(2, '0')}`),
  spot: fresh(spot),
};

const ANY = ['name', 'name', 'name', 'place', 'code', 'number', 'food'] as const;

/**
 * Draws a value of a kind named in `templates.json` (`name`, `place`, `code`, `date`, … or `any`).
 * @throws RangeError on a kind that has no source
 */
export function drawValue(random: SeededRandom, kind: string, heldOut: boolean): string {
  const source = sources[kind === 'any' ? random.pick(ANY) : kind];
  if (source === undefined) throw new RangeError(`templates.json names the value kind "${kind}", which has no source`);
  return source(random, heldOut);
}
