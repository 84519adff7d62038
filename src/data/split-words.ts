import { type KnownLanguage, knownLanguage, type Language } from '../base/language.ts';
import { memoizeTexts } from '../base/memoize.ts';
import { unifyNumbers, type WordsVersion, wordsVersion } from './number-wordings.ts';

/** A word, and the number of its clause in the text. */
export interface Word {
  readonly text: string;
  readonly clause: number;
}

/** Range of words by index; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const breaks = (isChinese: boolean): RegExp =>
  isChinese ? /[,;()—…!?\n，、；：（）。！？]/u : /[,;()—…!?\n]|\.\s|: /u;

const LINKS = new Set('but and or although though while whereas because so then if who which yet'.split(' '));
const ARTICLES = new Set(['a', 'an', 'the']);

/** A word of metrics version 1. "don't", "16:30", "2024-05-14" and "-5" are one word; "well-known" is two. */
const RUN =
  /(?:(?<![\p{L}\p{N}])-(?=\p{N}))?[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{M}]+|(?<=\p{N})[.,:/–-](?=\p{N})[\p{L}\p{N}]+)*/gu;

/** A sign or a leading point: "-5", ".5", ".NET". */
const START = /(?:(?<![\p{L}\p{N}])-(?=\.?\p{N}))?(?:(?<![\p{L}\p{N}.])\.(?=[\p{L}\p{N}]))?/u;
/** Inside a word: "don't", "16:30", "AT&T". */
const JOINT = /'[\p{L}\p{M}]+|(?<=\p{N})[.,:/-](?=\p{N})[\p{L}\p{N}\p{M}]+|(?<=\p{L})&(?=\p{L})[\p{L}\p{N}\p{M}]+/u;
/** At the end of a word: "C++", "C#", "18+", "A-". */
const END = /\+\+|(?:\+|(?<=\p{L})#|(?<=(?<![\p{L}\p{N}])\p{L}{1,2})-(?!-))(?![\p{L}\p{N}])/u;
const UNIT = /(?<=\p{N}\s?)[%‰°\p{Sc}]/u;
/** One picture: a flag, or a symbol with its tone and what is joined to it. */
const PICTURE = /\p{RI}{2}|(?![©®°])\p{So}[\p{M}🏻-🏿]*(?:\u200D\p{So}[\p{M}🏻-🏿]*)*/u;
const WORD = new RegExp(
  `${START.source}[\\p{L}\\p{N}\\p{M}]+(?:${JOINT.source})*(?:${END.source})?|${UNIT.source}|${PICTURE.source}`,
  'gu',
);

/** A letter of a script without spaces between words. It counts as a word; in Chinese text, only Han characters do. */
export const unspacedCharacter =
  /(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*/gu;
const HAN = /\p{Script=Han}/gu;

function plainVersion1(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/gu, '');
}

function plain(text: string, language: Language, version: WordsVersion): string {
  const lower = text
    // Else NFKC would turn "10²" into 102, and "1½" into eleven halves.
    .replaceAll(/(?<=\p{N})(?=\p{No})/gu, ' ')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u00AD\u200B\u200E\u200F\u2060\uFE0E\uFE0F\uFEFF]/gu, '')
    .replaceAll('’', "'")
    .replaceAll('⁄', '/')
    .replaceAll(/[\u2010-\u2013\u2212]/gu, '-')
    .replaceAll(/(?<![\p{N}.,])[1-9]\d{0,2}(?:,\d{3})+(?!\d)/gu, (number) => number.replaceAll(',', ''));
  return (
    unifyNumbers(lower, knownLanguage(language), version)
      // Currency signs go after the number: "$5" becomes "5 $".
      .replaceAll(/(-?)(?<!\p{N}|\p{N} )(\p{Sc}) ?(-?\.?\p{N}[\p{N}.,]*(?<=\p{N}))/gu, ' $1$3 $2 ')
  );
}

/** Normalises the zeros of a decimal: "1.50" is "1.5", "1.0" is "1", ".5" is "0.5". Other words are unchanged. */
function asNumber(word: string): string {
  const [, sign, whole, fraction] = /^(-?)(\d*)\.(\d+)$/u.exec(word) ?? [];
  if (fraction === undefined) return word;
  const rest = fraction.replace(/0+$/u, '');
  return `${sign!}${whole === '' ? '0' : whole!}${rest === '' ? '' : `.${rest}`}`;
}

function cut(form: string, pattern: RegExp, language: Language): Word[] {
  const words: Word[] = [];
  const known = knownLanguage(language);
  const isBreak = breaks(known === 'zh');
  let clause = 0;
  let end = 0;
  for (const match of form.matchAll(pattern)) {
    const word = known === 'en' ? match[0].replace(/'s$/u, '') : match[0];
    if (isBreak.test(form.slice(end, match.index))) clause++;
    else if (known === 'en' && LINKS.has(word)) clause++;
    end = match.index + match[0].length;
    words.push({ text: word, clause });
  }
  // The "A" in "type A" is no article: no word of its clause follows.
  const isArticle = ({ text: word, clause: own }: Word, place: number): boolean =>
    ARTICLES.has(word) && words[place + 1]?.clause === own;
  return known === 'en' ? words.filter((word, place) => !isArticle(word, place)) : words;
}

/** Splits words as metrics version 1 did: symbols are never part of a word. */
export function splitWordsVersion1(text: string, language: Language): Word[] {
  const form = plainVersion1(text);
  return cut(language === 'zh' ? form.replaceAll(HAN, ' $& ') : form, RUN, language);
}

/**
 * Splits a text into words after NFKC and lower-casing; in English also drops articles before a word and possessive 's.
 * A word is a run of letters and digits (Unicode) with its symbols, as in "C++", "C#", ".NET" and "AT&T"; a number with
 * its sign and separators, so that "7" is not found in "7:30", and 1.0 equals 1; a unit next to a number; or an emoji.
 * In scripts without spaces each character is a word; in Chinese text, each Han character. Slashes, tags and hyphens
 * between letters separate words.
 */
export function splitWords(text: string, language: Language, version: WordsVersion = wordsVersion): Word[] {
  const form = plain(text, language, version);
  const known = knownLanguage(language);
  const parted = form.replaceAll(known === 'zh' ? HAN : unspacedCharacter, ' $& ');
  return cut(parted, WORD, language).map(({ text: word, clause }) => ({ text: asNumber(word), clause }));
}

/** All places in `words` where the words of `part` follow one another. */
export function findSpans(words: readonly Word[], part: readonly Word[]): Span[] {
  if (part.length === 0) return [];
  return words.flatMap((_, from) =>
    part.every((word, index) => words[from + index]?.text === word.text) ? { from, to: from + part.length } : [],
  );
}

/**
 * Memoizes a form of short texts, by the languages that have rules of their own: an answer is compared with many golds, and a
 * gold with many answers.
 */
export function memoizeForms(compute: (text: string, language: KnownLanguage | 'other') => string) {
  const memoized = (language: KnownLanguage | 'other') =>
    memoizeTexts((text) => compute(text, language), { maxCharacters: 200, maxTexts: 10_000 });
  const forms = { en: memoized('en'), zh: memoized('zh'), other: memoized('other') };
  return (text: string, language: Language): string => forms[knownLanguage(language) ?? 'other'](text);
}

const formsOf = (version: WordsVersion) =>
  memoizeForms((text, language) => {
    const words = splitWords(text, language, version);
    return words.length > 0
      ? words.map((word) => word.text).join(' ')
      : plain(text, language, version).trim().replace(/\s+/gu, ' ');
  });
const forms = { 2: formsOf(2), 3: formsOf(3) };

/** The words of a text, joined by single spaces; for a text without words ("?!") its characters. */
export function wordForm(text: string, language: Language, version: WordsVersion = wordsVersion): string {
  return forms[version](text, language);
}

/** True if `text` contains the words of `part` in sequence; false for an empty part. */
export function holdsWords(text: string, part: string, language: Language, version?: WordsVersion): boolean {
  const form = wordForm(part, language, version);
  return form !== '' && ` ${wordForm(text, language, version)} `.includes(` ${form} `);
}
