import { accessSync, chmodSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { BenchError } from '../base/bench-error.ts';
import { readToEnd } from '../base/read-remove-rename-files.ts';
import { databaseError } from './database-error.ts';
import { migrate, requireCurrentSchema } from './migrations.ts';

/** How to open a database. */
export interface OpenDatabaseOptions {
  /** The file, created with its folder if missing; `:memory:` for a database that exists until it is closed. */
  readonly path: string;
  /** Called with every executed statement, values filled in (`database.echo`). */
  readonly echo?: (sql: string) => void;
  /** Opens the file for reading only: it must exist with the schema of this program, and is not changed. */
  readonly readOnly?: true;
}

/**
 * An open database. Calls are synchronous; the repositories are built on it.
 *
 * @example
 * using database = openDatabase({ path: 'reports/dki-bench.sqlite', readOnly: true });
 * console.log(database.path);
 */
export class BenchDatabase implements Disposable {
  readonly path: string;
  readonly readOnly: boolean;
  /** Drizzle's query builder, for the repositories. @internal */
  readonly query: BetterSQLite3Database;
  readonly #client: Sqlite.Database;

  /** @param client an open connection with the current schema, which this object closes @internal */
  constructor(path: string, client: Sqlite.Database) {
    this.path = path;
    this.readOnly = client.readonly;
    this.#client = client;
    this.query = drizzle(client);
  }

  /** A number that changes when another connection writes. */
  get othersVersion(): number {
    return this.guard(() => this.#client.pragma('data_version', { simple: true }) as number);
  }

  /**
   * Runs `work` as one transaction: all of it is stored, or nothing. Transactions may be nested; an inner one can fail
   * on its own.
   * @throws BenchError `disk` if the disk is full, `database` if the file cannot be read or written
   * @internal
   */
  transaction<Result>(work: (query: BetterSQLite3Database) => Result): Result {
    return this.guard((query) => this.#client.transaction(() => work(query)).immediate());
  }

  /** Runs statements outside any transaction and turns SQLite's failures into BenchErrors, as `transaction` does. @internal */
  guard<Result>(work: (query: BetterSQLite3Database) => Result): Result {
    try {
      return work(this.query);
    } catch (error) {
      throw databaseError(this.path, error);
    }
  }

  /** Moves what is in the write-ahead log to the file, and empties the log, which has old versions of changed rows. */
  emptyLog(): void {
    this.guard(() => this.#client.pragma('wal_checkpoint(TRUNCATE)'));
  }

  /** Closes the file; safe to call twice. */
  close(): void {
    this.#client.close();
  }

  /** As `close`, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Reads and writes one part of a database. @internal */
export abstract class Repository {
  protected readonly database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.database = database;
  }

  /** The rows of a table that match, in the order in which they were written. */
  protected select<Table extends SQLiteTable>(table: Table, where: SQL | undefined): InferSelectModel<Table>[] {
    const order = sql`rowid`;
    return this.database.guard((query) => query.select().from(table).where(where).orderBy(order).all());
  }

  protected query<Row>(statement: SQL): Row[] {
    return this.database.guard((query) => query.all<Row>(statement));
  }
}

/** True if the text of a column begins with `prefix`, which has no wildcards. @internal */
export function beginsWith(column: SQLiteColumn, prefix: string): SQL {
  return sql`substr(${column}, 1, ${prefix.length}) = ${prefix}`;
}

/**
 * Opens a database and, unless it is read-only, brings its schema up to date.
 * @throws BenchError `database` if the file has a newer schema, has an older one and is read-only, is no database, or cannot be
 * accessed
 */
export function openDatabase({ path, echo, readOnly }: OpenDatabaseOptions): BenchDatabase {
  const client = connect(path, echo, readOnly === true);
  try {
    client.pragma('busy_timeout = 5000');
    if (readOnly === true) {
      requireCurrentSchema(client, path);
      // Searches scan gigabytes of rows; with memory mapping they are two and a half times as fast.
      client.pragma('mmap_size = 2147418112');
      return new BenchDatabase(path, client);
    }
    // Before setting the journal mode, which would write to a file of another program.
    migrate(client, path);
    client.pragma('journal_mode = WAL');
    client.pragma('synchronous = NORMAL');
    // Overwrite deleted rows: what a user removes must not stay in the file.
    client.pragma('secure_delete = ON');
    // Checkpoint every 32 MB instead of 4: a turn writes some 80 kB, and every checkpoint waits for the disk.
    client.pragma('wal_autocheckpoint = 8000');
    return new BenchDatabase(path, client);
  } catch (error) {
    client.close();
    throw databaseError(path, error);
  }
}

function connect(path: string, echo: ((sql: string) => void) | undefined, readonly: boolean): Sqlite.Database {
  try {
    const isNew = !readonly && path !== ':memory:' && !existsSync(path);
    if (isNew) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const client = new Sqlite(readonly ? readableSource(path) : path, {
      readonly,
      ...(echo === undefined ? {} : { verbose: (sql) => echo(String(sql)) }),
    });
    // The file is private: it holds users' texts. SQLite gives its journals the same mode.
    if (isNew) chmodSync(path, 0o600);
    return client;
  } catch (error) {
    const failure = databaseError(path, error);
    if (failure instanceof BenchError) throw failure;
    const { message } = error as Error;
    const hint = 'name a file that can be written with --db';
    throw new BenchError('database', `${path} cannot be opened: ${message}`, hint, error);
  }
}

/** Offsets of the two bytes of SQLite's file header that are 2 if the database has a write-ahead log, else 1. */
const LOG_BYTES = [18, 19];

/** True if a file can be written, and its folder too. */
export function isWritable(path: string): boolean {
  try {
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file to read. SQLite must create log files for that: if it cannot, returns a copy of the database without a log. */
function readableSource(path: string): string | Buffer {
  if (isWritable(path) || existsSync(`${path}-wal`)) return path;
  const copy = readToEnd(path);
  for (const place of LOG_BYTES) copy[place] = 1;
  return copy;
}
