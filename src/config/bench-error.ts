/** What went wrong, for programs; the message says it for people. */
export type BenchErrorCode =
  | 'bad-option'
  | 'bad-data'
  | 'bad-model'
  | 'bad-state'
  | 'context-overflow'
  | 'database'
  | 'disk'
  | 'network'
  | 'not-found'
  | 'not-reproduced'
  | 'port';

/**
 * A mistake that its user can mend. The message is one line that names the thing at fault
 * (file:line, option, value); the hint says what to do. The command line prints both and exits with 2.
 */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly code: BenchErrorCode;
  readonly hint: string;

  constructor(code: BenchErrorCode, message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}
