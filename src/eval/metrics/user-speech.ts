import type { Language } from './normalise.ts';

/** How a user is talked with, as their data set has it: every answer to them is judged by it, whoever else a run asks. */
export interface UserSpeech {
  readonly language: Language;
  /** The right answer to an absent item. */
  readonly unknownAnswer: string;
}
