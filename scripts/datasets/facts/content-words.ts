import { splitTokens } from '../../../src/data/normalise-text.ts';
import type { FactGrammar } from './fact-grammar.ts';

const SUFFIX = /(?:ly|ing|ed|es|s|e)$/;
const MIN_STEM = 3;
const SAME_START = 5;

function stem(word: string): string {
  const short = word.replace(SUFFIX, '');
  return short.length >= MIN_STEM ? short : word;
}

function contentWords({ language, stopWords }: FactGrammar, text: string): string[] {
  // The normal form deletes apostrophes: "dog's" must stay a form of "dog".
  const plain = language === 'en' ? text.replaceAll(/['’]s\b/g, '') : text;
  const stops = new Set(stopWords);
  return splitTokens(plain, language).filter((word) => !stops.has(word));
}

function sameWord(a: string, b: string): boolean {
  if (a === b || stem(a) === stem(b)) return true;
  return a.length >= SAME_START && b.length >= SAME_START && a.slice(0, SAME_START) === b.slice(0, SAME_START);
}

/**
 * Lists the content words of a text that occur in another: words that are no stop words, in any of their forms; in Chinese
 * characters. Words that begin with the same five letters count as forms of one.
 */
export function sharedWords(grammar: FactGrammar, text: string, other: string): string[] {
  const words = contentWords(grammar, other);
  return contentWords(grammar, text).filter((word) => words.some((one) => sameWord(word, one)));
}
