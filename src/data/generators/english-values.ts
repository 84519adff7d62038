import { grammars } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { codeSource, dateSource, fresh, numberSource, realOr, timeSource, type ValueSource } from './value-source.ts';

const grammar = grammars.en;

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A pronounceable nonce word, such as "brenko". */
export function pseudoword(random: SeededRandom, low: number, high: number): string {
  const { onsets, vowels, codas } = grammar.syllables;
  const syllables = random.int(low, high);
  let word = '';
  for (let index = 0; index < syllables; index++) {
    word += random.pick(onsets) + random.pick(vowels);
    if (index === syllables - 1 || random.chance(0.35)) word += random.pick(codas);
  }
  return word;
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

function spot(random: SeededRandom): string {
  const adjective = random.chance(0.3) ? `${random.pick(grammar.adjectives)} ` : '';
  return `${random.pick(['under the', 'behind the', 'in the', 'next to the', 'on the'])} ${adjective}${word(random)}`;
}

/** Sources of values by the kinds that `grammar-en.json` names. */
export const englishValues: Readonly<Record<string, ValueSource>> = {
  name: realOr(grammar, 'name', 0.12, name),
  place: realOr(grammar, 'place', 0.15, place),
  food: realOr(grammar, 'food', 0.4, phrase),
  drink: realOr(grammar, 'drink', 0.4, phrase),
  colour: realOr(grammar, 'colour', 0.4, phrase),
  allergen: realOr(grammar, 'allergen', 0.4, phrase),
  hobby: realOr(grammar, 'hobby', 0.4, phrase),
  instrument: realOr(grammar, 'instrument', 0.4, phrase),
  language: realOr(grammar, 'language', 0.4, (random) => capitalised(word(random))),
  job: realOr(grammar, 'job', 0.4, (random) => `a ${word(random)}`),
  title: fresh((random) => capitalised(phrase(random))),
  code: codeSource(word),
  number: numberSource,
  date: dateSource(grammar),
  time: timeSource,
  spot: fresh(spot),
};
