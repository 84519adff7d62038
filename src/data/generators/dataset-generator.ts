import type { KnownLanguage } from '../../base/language.ts';
import type { Dataset } from '../dataset.ts';

/** The context window that generated memories must fit, and its tokenizer. */
export interface ContextWindow {
  readonly contextTokens: number;
  /** Tokens of each text alone, by the model's own tokenizer. */
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
}

/** What the user of `ruler` chooses: lengths of the memories in tokens, tasks, and data sets with questions for task `qa`. */
export interface RulerChoice {
  readonly lengths?: readonly number[] | undefined;
  readonly tasks?: readonly string[] | undefined;
  readonly questions?: readonly Dataset[] | undefined;
}

export interface DatasetGenerator {
  readonly name: string;
  readonly suites: readonly string[];
  readonly language: KnownLanguage;
  readonly presetUsers: number;
  /** Text of the file in JSON Lines: the same bytes for the same seed, users and window. */
  readonly make: (seed: number, users: number, window: ContextWindow, choice?: RulerChoice) => Promise<string>;
}
