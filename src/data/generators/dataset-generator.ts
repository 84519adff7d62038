import type { KnownLanguage } from '../../base/language.ts';

/** The context window that generated memories must fit, and its tokenizer. */
export interface ContextWindow {
  readonly contextTokens: number;
  /** Tokens of each text alone, by the model's own tokenizer. */
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
}

export interface DatasetGenerator {
  readonly name: string;
  readonly suites: readonly string[];
  readonly language: KnownLanguage;
  readonly presetUsers: number;
  /** Text of the file in JSON Lines: the same bytes for the same seed, users and window. */
  readonly make: (seed: number, users: number, window: ContextWindow) => Promise<string>;
}
