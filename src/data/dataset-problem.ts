import type { BenchError } from '../base/bench-error.ts';

/** Rules that every data set must meet. */
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

/** Rules against data that the bench can read, but that make measurements misleading. */
export type LintRule =
  | 'superseded-answer'
  | 'leak'
  | 'duplicate-content'
  | 'duplicate-question'
  | 'no-evidence'
  | 'user-without-items'
  | 'language';

/** Receives each problem of a file. It may throw to stop at the first. */
export type Report = (rule: Rule, problem: BenchError) => void;

/** A problem of a data set. `error`: the bench refuses it, or scores would be wrong; `warning`: the author decides. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly rule: Rule | LintRule;
  /** Counted from 1; null if no single line is at fault, or an element of a list. */
  readonly line: number | null;
  /** One line that begins with `file:line`. */
  readonly message: string;
  readonly hint: string;
}
