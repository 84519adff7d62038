import type { Rule } from '../records.ts';

/** Rules for data that the bench reads, but whose measurements may mislead. */
export type SoundnessRule =
  | 'superseded-answer'
  | 'leak'
  | 'duplicate-content'
  | 'duplicate-question'
  | 'no-evidence'
  | 'user-without-items'
  | 'language';

/**
 * One problem of a data set. An `error` makes the bench refuse it, or makes a score contradict itself; a `warning` is for
 * its author to check.
 */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly rule: Rule | SoundnessRule;
  /** Counted from 1; null if no single line is at fault. */
  readonly line: number | null;
  /** One line that begins with `file:line`. */
  readonly message: string;
  readonly hint: string;
}
