/** A language as data declare it, a tag of BCP 47: `en`, `zh`, `de`, `pt-BR`. */
export type Language = string;

/** Languages with wordings of their own, and rules for articles, negation and refusals. */
export type KnownLanguage = 'en' | 'zh';

/** `en` for `en-GB`, `zh` for `zh-Hant`; undefined for a language without wordings of its own. */
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
