import { editDistance } from './edit-distance.ts';

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

/** Finds the most similar known name; undefined if more than half of the longer name differs. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const most = Math.ceil(Math.max(name.length, candidate.length) / 2);
    // The distance is at least the difference in length; this skips huge texts without computing it.
    if (Math.abs(name.length - candidate.length) > most) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < fewest && distance <= most) {
      nearest = candidate;
      fewest = distance;
    }
  }
  return nearest;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Z}]/gu;

/** Formats `: did you mean NAME?`, or names the invisible characters that differ; empty if no known name is similar. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  if (nearest === undefined) return '';
  if (name.replaceAll(INVISIBLE, '') !== nearest.replaceAll(INVISIBLE, '')) return `: did you mean ${nearest}?`;
  const characters = [...new Set(`${name}${nearest}`.match(INVISIBLE))].map(
    (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `: ${nearest} looks the same except for invisible characters (${characters.join(', ')})`;
}

/**
 * An error about an unknown name, which suggests the nearest known one and lists the first of them.
 * @param what such as `run "a" has no arm`
 */
export function unknownNameError(what: string, name: string, known: readonly string[]): BenchError {
  const others = known.length > 8 ? `, and ${known.length - 8} more` : '';
  const hint = known.length === 0 ? 'it has none' : `it has ${known.slice(0, 8).join(', ')}${others}`;
  return new BenchError('not-found', `${what} "${name}"${didYouMean(name, known)}`, hint);
}

/** An error about a name that is none of the known ones. @param what such as `--shape: unknown shape` */
export function unknownOptionError(what: string, name: string, known: readonly string[]): BenchError {
  return new BenchError('bad-option', `${what} "${name}"${didYouMean(name, known)}`, `known: ${known.join(', ')}`);
}

const MAX_CHARACTERS = 60;

/** Formats a value for an error message, cut after 60 characters. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    const text = JSON.stringify(value);
    return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
  } catch (error) {
    // JSON.stringify is recursive, while JSON.parse is not: it may have read this value.
    if (error instanceof RangeError) return 'a value that is nested too deeply to be shown';
    throw error;
  }
}
