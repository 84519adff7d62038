import { grammars } from '../base/english-and-chinese-wordings.ts';
import { knownLanguage, type Language } from '../base/language.ts';

/** A user's language by the data set. Answers are scored in it, also if a run prompts in another language. */
export interface UserLanguage {
  readonly language: Language;
  readonly unknownAnswer: string;
}

/** Profile of `language`, default `whole`. A language without phrasings keeps the unknown answer of `whole`. */
export function resolveUserLanguage(language: Language | undefined, whole: UserLanguage): UserLanguage {
  if (language === undefined || language === whole.language) return whole;
  const known = knownLanguage(language);
  return { language, unknownAnswer: known === undefined ? whole.unknownAnswer : grammars[known].unknownAnswer };
}
