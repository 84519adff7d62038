import type { Language } from '../metrics/normalise.ts';

/** The model that data have to fit. */
export interface ModelRoom {
  /** Tokens of its window. */
  readonly windowTokens: number;
  /** By its own tokenizer. */
  readonly countTokens: (text: string) => number;
}

/** Makes one data set by seed. */
export interface DatasetGenerator {
  /** Of the data set. */
  readonly name: string;
  /** The suites that ask its questions. */
  readonly suites: readonly string[];
  readonly language: Language;
  /** How many users it has where nobody says otherwise. */
  readonly presetUsers: number;
  /**
   * The text of its file, JSON Lines; the same bytes for the same seed and number of users, and, for data that fill its
   * window, the same model.
   */
  readonly make: (seed: number, users: number, room: ModelRoom) => string;
}
