import { grammars } from '../base/grammar.ts';
import type { Language } from '../base/language.ts';

/** The language profile of a user, from their data set: all answers to them are scored by it, whatever else a run asks. */
export interface UserLanguage {
  readonly language: Language;
  /** The gold answer of an absent item. */
  readonly unknownAnswer: string;
}

/** The profile of a language, unless it is that of the file, user or both, whose own is `whole`. */
export function profileOf(language: Language | undefined, whole: UserLanguage): UserLanguage {
  if (language === undefined || language === whole.language) return whole;
  return { language, unknownAnswer: grammars[language].unknownAnswer };
}
