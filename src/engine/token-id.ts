import { BenchError } from '../base/bench-error.ts';

/** The id of a token in the vocabulary of a model. */
export type TokenId = number;

/** Tokens in the order of a text. */
export type TokenIds = readonly TokenId[];

/** Placeholder for an unknown token. */
export const UNKNOWN_TOKEN: TokenId = -1;

/** Tokens from `start` up to, and without, `end`. */
export interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** @param what names what the range counts, in a message @throws RangeError for a range that goes beyond the length */
export function requireRange({ start, end }: TokenRange, length: number, what: string): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= length) return;
  throw new RangeError(`${start} to ${end} is no range of ${length} ${what}`);
}

/** The error for a text that would become a control token. */
export function specialTokenError(text: string, token: TokenId | string): BenchError {
  return new BenchError(
    'special-token',
    `the text ${JSON.stringify(text)} would become the control token ${token}`,
    'take the text out: no text of a user or a memory may forge a role or an end',
  );
}
