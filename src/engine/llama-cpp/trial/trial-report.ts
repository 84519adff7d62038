import type { BenchErrorCode } from '../../../base/bench-error.ts';

/** The message of a trial process that comes to its end. */
export type TrialReport =
  | { readonly state: 'works' }
  | { readonly state: 'refused'; readonly code: BenchErrorCode; readonly message: string; readonly hint: string };
