import { BenchError, type BenchErrorCode } from '../../../base/bench-error.ts';

/** Why a judge gave no verdict, as results count it. */
export type FailureReason =
  | 'no server'
  | 'no such route or model'
  | 'key refused'
  | 'time-out'
  | 'error of the server'
  | 'no reply'
  | 'neither yes nor no';

/**
 * An answer that was not judged. The message is stored with the run and holds no word of the server or its model, which may
 * quote the texts that they were sent; the hint does.
 */
export class JudgeFailure extends BenchError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, code: BenchErrorCode, message: string, hint: string, cause?: unknown) {
    super(code, message, hint, cause);
    this.reason = reason;
  }
}
