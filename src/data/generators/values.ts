import type { Grammar } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { chineseValues, madeUpWord } from './chinese-values.ts';
import { englishValues, pseudoword } from './english-values.ts';
import { drawn } from './value-source.ts';

const sources = { en: englishValues, zh: chineseValues } as const;
const nonces = { en: pseudoword, zh: madeUpWord } as const;

const ANY = ['name', 'name', 'name', 'place', 'code', 'number', 'food'] as const;

/**
 * Draws a value of a kind that the grammar names (`name`, `place`, `code`, `date`, … or `any`).
 * @throws RangeError for a kind without a source
 */
export function drawValue(random: SeededRandom, { language }: Grammar, kind: string, heldOut: boolean): string {
  const source = sources[language][kind === 'any' ? random.pick(ANY) : kind];
  if (source === undefined) throw new RangeError(`the value kind "${kind}" of grammar-${language}.json has no source`);
  return source(random, heldOut);
}

/** Draws a nonce word of one syllable to `most`; a Chinese word has at least two characters. */
export function nonceWord(random: SeededRandom, { language }: Grammar, heldOut: boolean, most: number): string {
  return drawn(heldOut, () => nonces[language](random, language === 'zh' ? 2 : 1, most));
}
