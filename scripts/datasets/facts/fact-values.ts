import { crc32 } from 'node:zlib';
import type { FactGrammar } from './fact-grammar.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { Wheel } from './wheel.ts';

/** The half of a data set that a value may occur in. */
export type Split = 'development' | 'test';

/** A value, and other ways of saying it. */
export interface FactValue {
  readonly text: string;
  readonly accepted: readonly string[];
}

const MIN_TEST = 100;
const MIN_DEVELOPMENT = 30;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const TIMES = [4, 5, 6, 7, 8].flatMap((hour) => ['00', '15', '30', '45'].map((minute) => `${hour}:${minute}`));

const plain = (texts: readonly string[]): FactValue[] => texts.map((text) => ({ text, accepted: [] }));

const range = (low: number, high: number, step = 1): number[] =>
  Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, index) => low + index * step);

const YEARS = range(2008, 2022);

function ordinal(day: number): string {
  const ending = { 1: 'st', 2: 'nd', 3: 'rd' }[day % 10] ?? 'th';
  return `${day}${day >= 11 && day <= 13 ? 'th' : ending}`;
}

/** House numbers of a street, different from street to street. */
const houses = (index: number): number[] => [0, 1, 2].map((place) => 2 + ((index * 37 + place * 29) % 97));

function englishComposed({ values }: FactGrammar): Record<string, FactValue[]> {
  const { month = [], weekday = [], street = [] } = values;
  const price = (dollars: number): FactValue => ({ text: `${dollars} dollars`, accepted: [`$${dollars}`] });
  return {
    date: month.flatMap((name, index) =>
      range(1, DAYS[index]!).map((day) => ({
        text: `${name} ${day}`,
        accepted: [`${day} ${name}`, `${name} ${ordinal(day)}`, `${ordinal(day)} of ${name}`],
      })),
    ),
    monthYear: plain(month.flatMap((name) => YEARS.map((year) => `${name} ${year}`))),
    weekdayTime: weekday.flatMap((day) =>
      TIMES.map((time) => ({ text: `${day} at ${time}`, accepted: [`${time} on ${day}`] })),
    ),
    price: range(12, 199).map(price),
    largePrice: range(205, 995, 5).map(price),
    address: plain(street.flatMap((name, index) => houses(index).map((number) => `${number} ${name}`))),
  };
}

function chineseComposed({ values }: FactGrammar): Record<string, FactValue[]> {
  const { month = [], dayNumber = [], weekday = [], street = [] } = values;
  const price = (yuan: number): FactValue => ({ text: `${yuan}元`, accepted: [`${yuan}块`, `${yuan}块钱`] });
  return {
    date: DAYS.flatMap((days, index) =>
      range(1, days).map((day) => ({
        text: `${index + 1}月${day}日`,
        accepted: [`${index + 1}月${day}号`, `${month[index]}${dayNumber[day - 1]}日`],
      })),
    ),
    monthYear: plain(YEARS.flatMap((year) => range(1, 12).map((index) => `${year}年${index}月`))),
    weekdayTime: plain(weekday.flatMap((day) => TIMES.map((time) => `${day}下午${time}`))),
    price: range(12, 199).map(price),
    largePrice: range(205, 995, 5).map(price),
    address: plain(street.flatMap((name, index) => houses(index).map((number) => `${name}${number}号`))),
  };
}

const composed = { en: englishComposed, zh: chineseComposed } as const;

export function factValues(grammar: FactGrammar): Readonly<Record<string, readonly FactValue[]>> {
  const { girlName = [], boyName = [], ...others } = grammar.values;
  return {
    ...Object.fromEntries(Object.entries(others).map(([kind, texts]) => [kind, plain(texts)])),
    girlName: plain(girlName),
    boyName: plain(boyName),
    firstName: plain([...girlName, ...boyName]),
    ...composed[grammar.language](grammar),
  };
}

/**
 * The values of a split: test users have two thirds of a list, at least a hundred values, and development users the rest, or
 * the whole list where the rest is below thirty.
 */
export function valuesOf(all: readonly FactValue[], split: Split): readonly FactValue[] {
  const sorted = all.toSorted((a, b) => crc32(a.text) - crc32(b.text) || (a.text < b.text ? -1 : 1));
  const test = Math.max(MIN_TEST, Math.ceil((2 * sorted.length) / 3));
  if (sorted.length - test < MIN_DEVELOPMENT) return sorted;
  return split === 'test' ? sorted.slice(0, test) : sorted.slice(test);
}

/** Draws a value of a kind for a relation. @throws RangeError for an unknown kind, and where a whole list is refused */
export type DrawValue = (relation: string, kind: string, accepts: (value: FactValue) => boolean) => FactValue;

/**
 * Draws the values of each relation without repetition until their list is used up, so that they are drawn evenly and the gold
 * answers of a relation differ among users.
 */
export function evenValues(random: SeededRandom, lists: Readonly<Record<string, readonly FactValue[]>>): DrawValue {
  const wheels = new Map<string, Wheel<FactValue>>();
  return (relation, kind, accepts) => {
    const list = lists[kind];
    if (list === undefined) throw new RangeError(`there is no list of values "${kind}"`);
    const key = `${relation}|${kind}`;
    const wheel = wheels.get(key) ?? new Wheel(random, list);
    wheels.set(key, wheel);
    return wheel.next(accepts);
  };
}
