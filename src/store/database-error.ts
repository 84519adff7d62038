import { BenchError } from '../base/bench-error.ts';

const known: readonly { codes: RegExp; error: (path: string, cause: Error) => BenchError }[] = [
  {
    codes: /^SQLITE_FULL/,
    error: (path, cause) =>
      new BenchError('disk', `${path}: no space left to write`, 'free some space, then go on with --resume', cause),
  },
  {
    codes: /^SQLITE_NOTADB/,
    error: (path, cause) =>
      new BenchError('database', `${path} is not a SQLite database`, 'name another file with --db', cause),
  },
  {
    codes: /^SQLITE_CORRUPT/,
    error: (path, cause) =>
      new BenchError('database', `${path} is damaged: ${cause.message}`, 'restore a copy or move the file away', cause),
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    error: (path, cause) =>
      new BenchError(
        'database',
        `${path} is locked by another process`,
        'wait for it or name another file with --db',
        cause,
      ),
  },
  {
    codes: /^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE|SHMSIZE)$/,
    error: (path, cause) =>
      new BenchError(
        'disk',
        `${path} cannot be written: ${cause.message} (${(cause as Error & { code: string }).code})`,
        'check space, quota and the limit on the size of files, then go on with --resume',
        cause,
      ),
  },
  {
    codes: /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR|AUTH)/,
    error: (path, cause) =>
      new BenchError(
        'database',
        `${path}: ${cause.message}`,
        'check that file and folder can be read and written',
        cause,
      ),
  },
];

/** Error for a database with a record that this program did not write so. */
export function unreadable(path: string, what: string, cause: unknown): BenchError {
  return new BenchError(
    'database',
    `${path} is damaged: a record cannot be read: ${what}`,
    'restore a copy or move the file away',
    cause,
  );
}

/**
 * Turns an error of SQLite into one that its user can mend; any other error comes back as it is.
 *
 * @param path the database file, named in the message
 */
export function databaseError(path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // Not instanceof SqliteError: a second copy of better-sqlite3 in the tree has a class of its own.
  const code = 'code' in error ? String(error.code) : '';
  const isNoDocument = error instanceof SyntaxError || error.message === 'malformed JSON' || code.startsWith('Z_');
  if (isNoDocument) return unreadable(path, error.message, error);
  return known.find(({ codes }) => codes.test(code))?.error(path, error) ?? error;
}
