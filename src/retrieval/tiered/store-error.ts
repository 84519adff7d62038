import { BenchError } from '../../base/bench-error.ts';

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

/** Returns the innermost reason in one line: clients wrap the socket's error, and collect one per address. */
function innermostReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return innermostReason(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return innermostReason(error.cause);
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
