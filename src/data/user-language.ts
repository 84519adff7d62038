import { grammars } from '../base/language-phrasings.ts';
import { knownLanguage, type Language } from '../base/language.ts';

/** A user's language by the data set. Answers are scored in it, whatever language a run prompts in. */
export interface UserLanguage {
  readonly language: Language;
  /** The gold answer of an absent item. */
  readonly unknownAnswer: string;
}

/**
 * Language profile for `language`, by default `whole`, whose unknown answer is also that of languages without
 * phrasings.
 */
export function resolveUserLanguage(language: Language | undefined, whole: UserLanguage): UserLanguage {
  if (language === undefined || language === whole.language) return whole;
  const known = knownLanguage(language);
  return { language, unknownAnswer: known === undefined ? whole.unknownAnswer : grammars[known].unknownAnswer };
}
