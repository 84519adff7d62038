import { accessSync, chmodSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { BenchError } from '../base/bench-error.ts';
import { requireMinimumNode } from '../base/minimum-node-version.ts';
import { readToEnd } from '../base/safe-file-operations.ts';
import { databaseError } from './database-error.ts';
import { migrate, requireCurrentSchema } from './migrations.ts';

/** File of a database, and a listener to its statements. */
export interface OpenDatabaseOptions {
  /** A file, made where there is none, together with its folder; `:memory:` for one that is gone when closed. */
  readonly path: string;
  /** Is called with every statement, values filled in, as it is executed (`database.echo`). */
  readonly echo?: (sql: string) => void;
  /** Only to be read: the file must be there and of the schema of this program, and is left as it is. */
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
  /** Nothing can be written through this connection. */
  readonly readOnly: boolean;
  /** Drizzle's query builder, for the repositories. */
  readonly query: BetterSQLite3Database;
  readonly #client: Sqlite.Database;

  /** @param client an open connection whose schema is current; the database owns it from here on */
  constructor(path: string, client: Sqlite.Database) {
    this.path = path;
    this.readOnly = client.readonly;
    this.#client = client;
    this.query = drizzle(client);
  }

  /** A number that changes when another connection has written. */
  get othersVersion(): number {
    return this.guard(() => this.#client.pragma('data_version', { simple: true }) as number);
  }

  /**
   * Runs `work` as one transaction: all of it is stored, or nothing. Transactions may be nested; an inner one can fail
   * on its own.
   * @throws BenchError `disk` where the disk is full, `database` where the file cannot be read or written
   */
  transaction<Result>(work: (query: BetterSQLite3Database) => Result): Result {
    return this.guard((query) => this.#client.transaction(() => work(query)).immediate());
  }

  /** Runs statements outside any transaction and turns SQLite's failures into BenchErrors, as `transaction` does. */
  guard<Result>(work: (query: BetterSQLite3Database) => Result): Result {
    try {
      return work(this.query);
    } catch (error) {
      throw databaseError(this.path, error);
    }
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

/** Reads and writes one part of a database. */
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

/** True where the text of a column begins with `prefix`; no character in it is a wildcard. */
export function beginsWith(column: SQLiteColumn, prefix: string): SQL {
  return sql`substr(${column}, 1, ${prefix.length}) = ${prefix}`;
}

/**
 * Opens a database and brings its schema up to date, unless it is only read.
 * @throws BenchError `database` where the file is of a newer schema, of an older one and only to be read, not a
 * database or not accessible; `unsupported` in an older Node
 */
export function openDatabase({ path, echo, readOnly }: OpenDatabaseOptions): BenchDatabase {
  requireMinimumNode();
  const client = connect(path, echo, readOnly === true);
  try {
    client.pragma('busy_timeout = 5000');
    if (readOnly === true) {
      requireCurrentSchema(client, path);
      // Searches walk over rows of gigabytes: two and a half times as fast as with reads.
      client.pragma('mmap_size = 2147418112');
      return new BenchDatabase(path, client);
    }
    // Before the journal mode, which would write to a file that is not ours.
    migrate(client, path);
    client.pragma('journal_mode = WAL');
    client.pragma('synchronous = NORMAL');
    // Deleted rows are overwritten: what a user removes is not left in the file.
    client.pragma('secure_delete = ON');
    // 32 MB, not 4: a turn writes some 80 kB of pages, and every copy of the log into the file waits for the disk.
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
    // It holds what users said; SQLite gives its journals the same mode.
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

/** Both bytes of a database's header that are 2 where it has a log. */
const LOG_BYTES = [18, 19];

/** True where a file can be written, and files beside it. */
export function isWritable(path: string): boolean {
  try {
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The database to read: where SQLite cannot make the files of its log, which it needs to read, a copy without one in memory. */
function readableSource(path: string): string | Buffer {
  if (isWritable(path) || existsSync(`${path}-wal`)) return path;
  const copy = readToEnd(path);
  for (const place of LOG_BYTES) copy[place] = 1;
  return copy;
}
