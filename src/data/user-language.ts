import { grammars } from '../base/language-phrasings.ts';
import { knownLanguage, type Language } from '../base/language.ts';

/** The language profile of a user, from their data set: all answers to them are scored by it, whatever else a run asks. */
export interface UserLanguage {
  readonly language: Language;
  /** The gold answer of an absent item. */
  readonly unknownAnswer: string;
}

/** The profile of a language; one without wordings of its own has the unknown answer of `whole`. */
export function resolveUserLanguage(language: Language | undefined, whole: UserLanguage): UserLanguage {
  if (language === undefined || language === whole.language) return whole;
  const known = knownLanguage(language);
  return { language, unknownAnswer: known === undefined ? whole.unknownAnswer : grammars[known].unknownAnswer };
}
