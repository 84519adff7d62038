import { BenchError } from '../base/bench-error.ts';

/** By SQLite's error code: our code, the message after the path, the hint. */
const known: readonly [RegExp, 'disk' | 'database', (cause: Error) => string, string][] = [
  [/^SQLITE_FULL/, 'disk', () => ': no space left to write', 'free some space, then go on with --resume'],
  [/^SQLITE_NOTADB/, 'database', () => ' is not a SQLite database', 'name another file with --db'],
  [/^SQLITE_CORRUPT/, 'database', ({ message }) => ` is damaged: ${message}`, 'restore a copy or move the file away'],
  [
    /^SQLITE_(BUSY|LOCKED)/,
    'database',
    () => ' is locked by another process',
    'wait for it or name another file with --db',
  ],
  [
    /^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE|SHMSIZE)$/,
    'disk',
    (cause) => ` cannot be written: ${cause.message} (${(cause as Error & { code: string }).code})`,
    'check space, quota and the limit on the size of files, then go on with --resume',
  ],
  [
    /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR|AUTH)/,
    'database',
    ({ message }) => `: ${message}`,
    'check that file and folder can be read and written',
  ],
];

export function damaged(path: string, why: string, cause?: unknown): BenchError {
  return new BenchError('database', `${path} is damaged: ${why}`, 'restore a copy or move the file away', cause);
}

/** Error for a stored record that this program cannot have written. */
export function unreadable(path: string, what: string, cause: unknown): BenchError {
  return damaged(path, `a record cannot be read: ${what}`, cause);
}

/** Converts an error of SQLite to a BenchError with a hint; returns other errors unchanged. */
export function databaseError(path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // Not instanceof SqliteError: a second copy of better-sqlite3 in the tree has another class.
  const code = 'code' in error ? String(error.code) : '';
  const isNoDocument = error instanceof SyntaxError || error.message === 'malformed JSON' || code.startsWith('Z_');
  if (isNoDocument) return unreadable(path, error.message, error);
  const [, ours, message, hint] = known.find(([codes]) => codes.test(code)) ?? [];
  return message === undefined ? error : new BenchError(ours!, path + message(error), hint!, error);
}
