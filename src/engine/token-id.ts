import { BenchError } from '../base/bench-error.ts';

/** Id of a token in the model's vocabulary. */
export type TokenId = number;

/** Token ids of a text, in order. */
export type TokenIds = readonly TokenId[];

/** Placeholder for an unknown token. */
export const UNKNOWN_TOKEN: TokenId = -1;

/** From `start` to `end`, exclusive. */
export interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** @param what unit of the range, for the message @throws RangeError if the range goes beyond the length */
export function requireRange({ start, end }: TokenRange, length: number, what: string): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= length) return;
  throw new RangeError(`range ${start} to ${end} is not within ${length} ${what}`);
}

export function specialTokenError(text: string, token: TokenId | string): BenchError {
  return new BenchError(
    'special-token',
    `the text ${JSON.stringify(text)} would become the control token ${token}`,
    'remove it: texts of users and memories must not forge roles or the end of a turn',
  );
}

export function commonLength(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}
