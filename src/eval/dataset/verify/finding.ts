import type { Rule } from '../records.ts';

/** What a file can hold that the bench reads, but that may not measure what it seems to. */
export type SoundnessRule =
  | 'superseded-answer'
  | 'leak'
  | 'duplicate-content'
  | 'duplicate-question'
  | 'no-evidence'
  | 'user-without-items'
  | 'language';

/**
 * One thing that is wrong with a data set. An `error` makes the bench refuse it, or makes a score contradict itself; a
 * `warning` is for its maker to look at.
 */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly rule: Rule | SoundnessRule;
  /** From 1; null where no single line is at fault. */
  readonly line: number | null;
  /** One line that begins with the place, `file:line`. */
  readonly message: string;
  readonly hint: string;
}
