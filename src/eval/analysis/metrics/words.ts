import type { Language } from '../../../base/language.ts';

/** A word of a text in normal form, and the number of its clause. */
export interface Word {
  readonly text: string;
  readonly clause: number;
}

/** Words `from` up to `to`, exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A run of letters and digits: "don't", "16:30", "2024-05-14" and "-5" are one; a hyphen between letters parts two. */
const RUN =
  /(?:(?<![\p{L}\p{N}])-(?=\p{N}))?[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{M}]+|(?<=\p{N})[.,:/–-](?=\p{N})[\p{L}\p{N}]+)*/gu;

const BREAK: Readonly<Record<Language, RegExp>> = {
  en: /[,;()—…!?\n]|\.\s|: /u,
  zh: /[,;()—…!?\n，、；：（）。！？]/u,
};

/** Words that begin a clause. */
const LINKS = new Set('but and or although though while whereas because so then if who which yet'.split(' '));
const ARTICLES = new Set(['a', 'an', 'the']);

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/gu, '');
}

/**
 * Splits a text into words for the search of values: NFKC, lower case, no articles before a word and no possessive 's; in Chinese one word a Han character. A number with its signs is one word, so that "7" is not found in "7:30".
 */
export function wordsOf(text: string, language: Language): Word[] {
  const form = language === 'zh' ? plain(text).replaceAll(/\p{Script=Han}/gu, ' $& ') : plain(text);
  const words: Word[] = [];
  let clause = 0;
  let end = 0;
  for (const match of form.matchAll(RUN)) {
    const word = language === 'en' ? match[0].replace(/'s$/u, '') : match[0];
    if (BREAK[language].test(form.slice(end, match.index))) clause++;
    else if (language === 'en' && LINKS.has(word)) clause++;
    end = match.index + match[0].length;
    words.push({ text: word, clause });
  }
  // "type A" ends in a name.
  const isArticle = ({ text: word, clause: own }: Word, place: number): boolean =>
    ARTICLES.has(word) && words[place + 1]?.clause === own;
  return language === 'en' ? words.filter((word, place) => !isArticle(word, place)) : words;
}

/** Places of the words of `part` in `words`, one after the other. */
export function spansOf(words: readonly Word[], part: readonly Word[]): Span[] {
  if (part.length === 0) return [];
  return words.flatMap((_, from) =>
    part.every((word, index) => words[from + index]?.text === word.text) ? { from, to: from + part.length } : [],
  );
}

/** True where `part` stands in `text`, word by word. */
export function holdsWords(text: string, part: string, language: Language): boolean {
  return spansOf(wordsOf(text, language), wordsOf(part, language)).length > 0;
}
