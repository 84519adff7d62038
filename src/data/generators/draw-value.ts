import { crc32 } from 'node:zlib';
import { type Grammar, grammars } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { fillTemplate } from './fill-template.ts';

type Draw = (random: SeededRandom) => string;

/** Draws nonce values; the share `realShare` is real, from the grammar's list, so that models see both. */
type ValueSource = readonly [realShare: number, draw: Draw];

const DIGITS = [...'0123456789'];
const LETTERS = [...'ABCDEFGHJKLMNPQRSTUVWXYZ'];
const HELD_OUT_REAL_SHARE = 0.05;
const ANY = ['name', 'name', 'name', 'place', 'code', 'number', 'food'] as const;

const { en, zh } = grammars;

function repeated(random: SeededRandom, alphabet: readonly string[], low: number, high: number): string {
  return Array.from({ length: random.int(low, high) }, () => random.pick(alphabet)).join('');
}

/** Codes: four to six digits, two letters and digits, or a word and digits. */
const code =
  (word: Draw): Draw =>
  (random) => {
    const shape = random.float();
    if (shape < 0.5) return repeated(random, DIGITS, 4, 6);
    if (shape < 0.8) return `${repeated(random, LETTERS, 2, 2)}-${repeated(random, DIGITS, 2, 4)}`;
    return word(random) + repeated(random, DIGITS, 2, 2);
  };

const date =
  ({ date: template, months }: Grammar): Draw =>
  (random) =>
    fillTemplate(template, { m: random.pick(months), d: String(random.int(1, 31)) });

const number: Draw = (random) => repeated(random, DIGITS, 3, 6);
const time: Draw = (random) => `${random.int(0, 23)}:${String(random.int(0, 59)).padStart(2, '0')}`;

/** A pronounceable nonce word, such as "brenko". */
function pseudoword(random: SeededRandom, low: number, high: number): string {
  const { onsets, vowels, codas } = en.syllables;
  const syllables = random.int(low, high);
  let word = '';
  for (let index = 0; index < syllables; index++) {
    word += random.pick(onsets) + random.pick(vowels);
    if (index === syllables - 1 || random.chance(0.35)) word += random.pick(codas);
  }
  return word;
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const word: Draw = (random) => pseudoword(random, 2, 3);
const phrase: Draw = (random) => (random.chance(0.12) ? `${word(random)} ${word(random)}` : word(random));

function name(random: SeededRandom): string {
  const first = capitalised(pseudoword(random, random.chance(0.15) ? 1 : 2, 3));
  return random.chance(0.1) ? `${first} ${capitalised(word(random))}` : first;
}

function place(random: SeededRandom): string {
  const base = capitalised(word(random));
  return random.chance(0.1) ? `${random.pick(['New', 'Port', 'Lake', 'Mount'])} ${base}` : base;
}

function spot(random: SeededRandom): string {
  const adjective = random.chance(0.3) ? `${random.pick(en.adjectives)} ` : '';
  return `${random.pick(['under the', 'behind the', 'in the', 'next to the', 'on the'])} ${adjective}${word(random)}`;
}

/** A nonce word: characters that are words by themselves, in an order that no dictionary has. */
function chineseWord(random: SeededRandom, low: number, high: number): string {
  return repeated(random, zh.characters, low, high);
}

/** A nonce word of two characters with an ending that is typical of its kind. */
const ending =
  (...ends: readonly string[]): Draw =>
  (random) =>
    chineseWord(random, 2, 2) + random.pick(ends);

function chineseSpot(random: SeededRandom): string {
  const adjective = random.chance(0.3) ? random.pick(zh.adjectives) : '';
  return `${adjective}${chineseWord(random, 2, 2)}${random.pick(['下面', '后面', '里面', '旁边', '上面'])}`;
}

const sources: Readonly<Record<Grammar['language'], Readonly<Record<string, ValueSource>>>> = {
  en: {
    name: [0.12, name],
    place: [0.15, place],
    food: [0.4, phrase],
    drink: [0.4, phrase],
    colour: [0.4, phrase],
    allergen: [0.4, phrase],
    hobby: [0.4, phrase],
    instrument: [0.4, phrase],
    language: [0.4, (random) => capitalised(word(random))],
    job: [0.4, (random) => `a ${word(random)}`],
    title: [0, (random) => capitalised(phrase(random))],
    code: [0, code(word)],
    number: [0, number],
    date: [0, date(en)],
    time: [0, time],
    spot: [0, spot],
  },
  zh: {
    name: [0.1, (random) => random.pick(zh.surnames) + chineseWord(random, 1, 2)],
    place: [0.15, ending('市', '镇', '县', '村', '湾', '岛')],
    food: [0.35, ending('面', '饭', '汤', '饼', '糕', '粥')],
    drink: [0.35, ending('茶', '酒', '汁', '奶')],
    colour: [0.4, ending('色')],
    allergen: [0.35, ending('粉', '果', '草')],
    hobby: [0.4, (random) => `${random.pick(['玩', '练', '打'])}${chineseWord(random, 2, 2)}`],
    instrument: [0.35, ending('琴', '鼓', '笛')],
    language: [0.35, ending('语')],
    job: [0.35, ending('师', '员', '工')],
    title: [0, (random) => chineseWord(random, 2, 3)],
    code: [0, code((random) => chineseWord(random, 2, 2))],
    number: [0, number],
    date: [0, date(zh)],
    time: [0, time],
    spot: [0, chineseSpot],
  },
};

/** A value is held out if and only if crc32 of its lower-case UTF-8 text is a multiple of ten. */
export function isHeldOutValue(value: string): boolean {
  return crc32(value.toLowerCase()) % 10 === 0;
}

/** Draws until a value is held out, or is not, as `heldOut` says. */
function drawUntil(heldOut: boolean, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (isHeldOutValue(value) === heldOut) return value;
  }
}

/** Draws a value of a kind that the grammar names, or of `any`. @throws RangeError for a kind without a source */
export function drawValue(random: SeededRandom, grammar: Grammar, kindName: string, heldOut: boolean): string {
  const { language, values } = grammar;
  const kind = kindName === 'any' ? random.pick(ANY) : kindName;
  const source = sources[language][kind];
  if (source === undefined) throw new RangeError(`the value kind "${kind}" of grammar-${language}.json has no source`);
  const [realShare, draw] = source;
  const real = values[kind]?.real.filter((value) => isHeldOutValue(value) === heldOut) ?? [];
  if (realShare > 0 && real.length > 0 && random.chance(heldOut ? HELD_OUT_REAL_SHARE : realShare))
    return random.pick(real);
  return drawUntil(heldOut, () => draw(random));
}

/** Draws a nonce word of one to `most` syllables, in Chinese of two to `most` characters. */
export function nonceWord(random: SeededRandom, { language }: Grammar, heldOut: boolean, most: number): string {
  return drawUntil(heldOut, () => (language === 'zh' ? chineseWord(random, 2, most) : pseudoword(random, 1, most)));
}
