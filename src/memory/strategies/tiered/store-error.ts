import { BenchError } from '../../../config/bench-error.ts';

/** How long a server may take for one call before it counts as gone. */
export const STORE_TIMEOUT_MS = 10_000;

/** What a server's failure means to its user; a mistake that is named already stays as it is. */
export function storeError(address: string, doing: string, error: unknown): BenchError {
  if (error instanceof BenchError) return error;
  return new BenchError(
    'database',
    `${address}: ${doing} failed: ${reasonOf(error)}`,
    'check that the server runs and can be reached, then try again, a run with --resume: nothing is written twice',
    error,
  );
}

/** Vectors of two embedders cannot be compared. */
export function otherDimension(place: string, held: number, given: number): BenchError {
  return new BenchError(
    'database',
    `${place} holds vectors of ${held} numbers, the embedder gives ${given}`,
    'take the embedder that it was filled with, or another place',
  );
}

/** The innermost reason, on one line: clients wrap the socket's error, and one for each address that was tried. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return reasonOf(error.cause);
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}

/** @throws Error where the work takes longer; it goes on, and what becomes of it is nobody's concern any more */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
