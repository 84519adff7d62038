import { BenchError, innermostReason } from '../../base/bench-error.ts';

/** Converts a failure of a server to a BenchError; a BenchError stays as it is. */
export function storeError(address: string, action: string, error: unknown): BenchError {
  if (error instanceof BenchError) return error;
  return new BenchError(
    'database',
    `${address}: ${action} failed: ${innermostReason(error)}`,
    'check that the server runs and can be reached, then try again; continue a run with --resume',
    error,
  );
}

export function dimensionMismatch(place: string, held: number, given: number): BenchError {
  return new BenchError(
    'database',
    `${place} holds vectors of ${held} numbers, the embedder gives ${given}`,
    'use the embedder that it was filled with, or another store',
  );
}

export const STORE_TIMEOUT_MS = 10_000;

/** Limits the time of a call. @throws Error if it takes longer; the result is then ignored */
export async function withTimeout<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
