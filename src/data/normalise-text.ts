import type { KnownLanguage, Language } from '../base/language.ts';
import { memoizeForms, unspacedCharacter } from './split-words.ts';

const PUNCTUATION = /[\p{P}$+<=>^`|~]/gu;
const ARTICLES = /(?<![\p{L}\p{N}\p{M}])(?:a|an|the)(?![\p{L}\p{N}\p{M}])/gu;
const CHINESE_TOKEN = /\p{Script=Han}|[\p{L}\p{N}\p{M}]+?(?=\p{Script=Han}|[^\p{L}\p{N}\p{M}]|$)/gu;

function spaced(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

/** Removes all matches, unless nothing would be left: "The The" and "?!" stay comparable to themselves. */
function without(pattern: RegExp, text: string): string {
  const rest = spaced(text.replace(pattern, ''));
  return rest === '' ? text : rest;
}

/**
 * Normalises a text for comparison; tokens are separated by one space.
 *
 * English follows SQuAD's evaluation script: lower case, delete punctuation ("16:30" becomes "1630") and the articles
 * a, an and the, collapse white space. Unlike SQuAD it begins with NFKC, deletes punctuation of every script, and skips
 * a step that would leave nothing, so that only an empty text has an empty form.
 *
 * Chinese: NFKC (full-width digits and letters become plain ones), lower case, punctuation deleted, then one token per
 * Han character and one per run of other letters and digits, the common unit of character-level F1 (CMRC 2018).
 *
 * Other languages: NFKC, lower case, punctuation deleted, and one token per character of scripts without spaces.
 * @see Rajpurkar et al. 2016, SQuAD, evaluate-v1.1; Cui et al. 2019, CMRC 2018
 */
export const normalise = memoizeForms(normalForm);

function normalForm(text: string, language: KnownLanguage | 'other'): string {
  const lower = spaced(text.normalize('NFKC').toLowerCase());
  const plain = without(PUNCTUATION, lower);
  if (language === 'en') return without(ARTICLES, plain);
  if (language === 'other') return spaced(plain.replaceAll(unspacedCharacter, ' $& '));
  const tokens = plain.match(CHINESE_TOKEN);
  return tokens === null ? plain : tokens.join(' ');
}

/** Splits the normal form into tokens; an empty text has none. */
export function splitTokens(text: string, language: Language): string[] {
  const form = normalise(text, language);
  return form === '' ? [] : form.split(' ');
}

/** The normal form with a space at both ends, so that `includes` finds only whole tokens. */
export function spacedForm(text: string, language: Language): string {
  return ` ${normalise(text, language)} `;
}

/** True if `text` contains the tokens of `part` in sequence; false for an empty part. */
export function containsTokens(text: string, part: string, language: Language): boolean {
  const form = spacedForm(part, language);
  return form.trim() !== '' && spacedForm(text, language).includes(form);
}
