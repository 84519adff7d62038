/** A language tag of BCP 47, as data sets declare it: `en`, `zh`, `de`, `pt-BR`. */
export type Language = string;

/** Languages for which the program has wordings, and rules for articles, negation and refusals. */
export type KnownLanguage = 'en' | 'zh';

/** `en` for `en-GB`, `zh` for `zh-Hant`; undefined for other languages. */
export function knownLanguage(language: Language): KnownLanguage | undefined {
  const [primary] = language.toLowerCase().split('-');
  return primary === 'en' || primary === 'zh' ? primary : undefined;
}

/** True for a well-formed tag. */
export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** The language of a text: Chinese if it has a Han character. */
export function detectLanguage(text: string): KnownLanguage {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}
