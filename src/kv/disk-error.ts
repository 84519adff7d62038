import { BenchError } from '../config/bench-error.ts';

/**
 * What went wrong with a folder of K/V states, with the system's own name for it, such as ENOSPC or EACCES. What says
 * enough already comes back as it is: a BenchError, and the RangeError of a caller's mistake.
 */
export function diskError(folder: string, what: string, hint: string, cause: unknown): unknown {
  if (cause instanceof BenchError || cause instanceof RangeError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  return new BenchError('disk', `${folder}: ${what}: ${code ?? message}`, hint, cause);
}
