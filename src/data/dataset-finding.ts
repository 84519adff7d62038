import type { BenchError } from '../base/bench-error.ts';

/** Names of the rules of a valid data set, for programs that look for one. */
export type Rule =
  | 'schema'
  | 'header'
  | 'duplicate-id'
  | 'supersedes'
  | 'updated-before-created'
  | 'links'
  | 'evidence'
  | 'evidence-after-question'
  | 'absent-with-evidence'
  | 'passages';

/** Rules for data that the bench reads, but whose measurements may mislead. */
export type LintRule =
  | 'superseded-answer'
  | 'leak'
  | 'duplicate-content'
  | 'duplicate-question'
  | 'no-evidence'
  | 'user-without-items'
  | 'language';

/** Receives the problems of a file one by one; if it throws, the first problem ends the check. */
export type Report = (rule: Rule, problem: BenchError) => void;

/**
 * One problem of a data set. An `error` makes the bench refuse it, or makes a score contradict itself; a `warning` is for
 * its author to check.
 */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly rule: Rule | LintRule;
  /** Counted from 1; null if no single line is at fault. */
  readonly line: number | null;
  /** One line that begins with `file:line`. */
  readonly message: string;
  readonly hint: string;
}
