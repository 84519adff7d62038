import { grammars } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import {
  codeSource,
  dateSource,
  fresh,
  numberSource,
  realOr,
  repeated,
  timeSource,
  type ValueSource,
} from './value-source.ts';

const grammar = grammars.zh;

/** A nonce word: characters that are words by themselves, in an order that no dictionary has. */
export function madeUpWord(random: SeededRandom, low: number, high: number): string {
  return repeated(random, grammar.characters, low, high);
}

/** A nonce word of two characters with an ending that is typical of its kind. */
const ending =
  (...ends: readonly string[]) =>
  (random: SeededRandom): string =>
    madeUpWord(random, 2, 2) + random.pick(ends);

const word = (random: SeededRandom): string => madeUpWord(random, 2, 3);

function name(random: SeededRandom): string {
  return random.pick(grammar.surnames) + madeUpWord(random, 1, 2);
}

function spot(random: SeededRandom): string {
  const adjective = random.chance(0.3) ? random.pick(grammar.adjectives) : '';
  return `${adjective}${madeUpWord(random, 2, 2)}${random.pick(['下面', '后面', '里面', '旁边', '上面'])}`;
}

/** Sources of values by the kinds that `grammar-zh.json` names. */
export const chineseValues: Readonly<Record<string, ValueSource>> = {
  name: realOr(grammar, 'name', 0.1, name),
  place: realOr(grammar, 'place', 0.15, ending('市', '镇', '县', '村', '湾', '岛')),
  food: realOr(grammar, 'food', 0.35, ending('面', '饭', '汤', '饼', '糕', '粥')),
  drink: realOr(grammar, 'drink', 0.35, ending('茶', '酒', '汁', '奶')),
  colour: realOr(grammar, 'colour', 0.4, ending('色')),
  allergen: realOr(grammar, 'allergen', 0.35, ending('粉', '果', '草')),
  hobby: realOr(grammar, 'hobby', 0.4, (random) => `${random.pick(['玩', '练', '打'])}${madeUpWord(random, 2, 2)}`),
  instrument: realOr(grammar, 'instrument', 0.35, ending('琴', '鼓', '笛')),
  language: realOr(grammar, 'language', 0.35, ending('语')),
  job: realOr(grammar, 'job', 0.35, ending('师', '员', '工')),
  title: fresh(word),
  code: codeSource((random) => madeUpWord(random, 2, 2)),
  number: numberSource,
  date: dateSource(grammar),
  time: timeSource,
  spot: fresh(spot),
};
