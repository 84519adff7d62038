/** Kind of an error, for programs; the message is for people. */
export type BenchErrorCode =
  | 'bad-option'
  | 'busy'
  | 'changed'
  | 'bad-data'
  | 'bad-model'
  | 'bad-state'
  | 'context-overflow'
  | 'database'
  | 'disk'
  | 'network'
  | 'no-session'
  | 'not-found'
  | 'not-reproduced'
  | 'port'
  | 'protocol'
  | 'special-token'
  | 'unreachable'
  | 'unsupported';

/**
 * An error that the user can correct. The message is one line that names the thing at fault (file:line, option, value); the
 * hint says what to do. The command line prints both and exits with 2.
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

/** Returns the `BenchError` with which a promise rejects instead of throwing it. @throws other errors */
export function catchBenchError<Value>(promise: Promise<Value>): Promise<Value | BenchError> {
  return promise.catch((error: unknown) => {
    if (error instanceof BenchError) return error;
    throw error;
  });
}

/** The innermost reason in one line: clients wrap the socket's error, and collect one per address of a host. */
export function innermostReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return innermostReason(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return innermostReason(error.cause);
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
