import type { Language } from './normalise.ts';

/** The language profile of a user, from their data set: all answers to them are scored by it, whatever else a run asks. */
export interface UserLanguage {
  readonly language: Language;
  /** The gold answer of an absent item. */
  readonly unknownAnswer: string;
}
