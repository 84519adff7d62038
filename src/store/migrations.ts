import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import type Sqlite from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { BenchError } from '../base/bench-error.ts';
import type { TurnRecord } from './records/turn-record.ts';
import { damaged } from './database-error.ts';
import * as schema from './schema.ts';
import { splitTurn } from './turn-row-mapping.ts';

/** `DKIB`: distinguishes our files from databases of other programs. */
const applicationId = 0x444b4942;

// The same path from src/store and from dist/store, since tsc copies no SQL.
const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Schemas up to this one are those of version 0.1.0, and can be read only by that version. */
const lastForeignSchema = 3;

const refusal = (path: string, why: string, hint: string) => new BenchError('database', `${path} ${why}`, hint);

/** @throws BenchError `database` if the schema is newer than `known` or of version 0.1.0, or the file is another program's */
function requireOurs(client: Sqlite.Database, path: string, known: number): void {
  const version = client.pragma('user_version', { simple: true }) as number;
  const owner = client.pragma('application_id', { simple: true }) as number;
  const tables = client.prepare('SELECT count(*) FROM sqlite_master').pluck().get() as number;
  if (tables > 0 && owner !== applicationId) {
    throw refusal(path, 'is a database of another program', 'name another file with --db; this one was left as it was');
  }
  if (tables > 0 && version === 0) throw damaged(path, 'it has tables, and its user_version is 0');
  if (version > 0 && version <= lastForeignSchema) {
    const hint = 'name another file with --db, or read this one with that version; it was left as it was';
    throw refusal(path, 'was made by dki-bench 0.1.0', hint);
  }
  if (version > known) {
    const hint = 'update dki-bench, or name another file with --db; this one was left as it was';
    throw refusal(path, `has schema ${version}, this program knows schemas up to ${known}`, hint);
  }
}

/** Columns by table, as this program queries them. */
const expectedColumns = Object.values<unknown>(schema)
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map((table) => [getTableName(table), Object.values(getTableColumns(table)).map(({ name }) => name)] as const);

/** @throws BenchError `database` if a table or a column is missing */
function requireTables(client: Sqlite.Database, path: string): void {
  const rows = client
    .prepare<[], [string, string]>('SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c')
    .raw()
    .all();
  const found = Map.groupBy(rows, ([table]) => table);
  for (const [table, columns] of expectedColumns) {
    const names = found.get(table)?.map(([, column]) => column);
    if (names === undefined) throw damaged(path, `it has no table "${table}"`);
    const missing = columns.find((column) => !names.includes(column));
    if (missing !== undefined) throw damaged(path, `its table "${table}" has no column "${missing}"`);
  }
}

/** For reading, which changes no schema. @throws BenchError `database` if the schema is not the one of this program */
export function requireCurrentSchema(client: Sqlite.Database, path: string): void {
  const known = lastForeignSchema + readMigrationFiles({ migrationsFolder: folder }).length;
  requireOurs(client, path, known);
  const version = client.pragma('user_version', { simple: true }) as number;
  if (version === known) {
    requireTables(client, path);
    return;
  }
  const hint = `bring it up to date, its turns stay as they are: npx dki-bench tables --db ${path}`;
  throw refusal(path, `has schema ${version}, and can only be read with schema ${known}`, hint);
}

/**
 * Brings a database to the schema of this program. `user_version` counts the migrations applied to a file, those of version
 * 0.1.0 included. All migrations run in one transaction, so that two processes may open a new file at once.
 * @throws BenchError `database` if the schema is newer than this program or of version 0.1.0, or the file is another program's
 */
export function migrate(client: Sqlite.Database, path: string): void {
  const migrations = readMigrationFiles({ migrationsFolder: folder });
  // Migrations rebuild tables by dropping them, which must not cascade. Inside a transaction this cannot be turned off.
  client.pragma('foreign_keys = OFF');
  client.function('measures', { varargs: true }, (...parts) => JSON.stringify(splitTurn(toTurn(parts)).measures));
  client.function('document', { varargs: true }, (...parts) => {
    const { document } = splitTurn(toTurn(parts));
    return document && deflateSync(JSON.stringify(document));
  });
  client
    .transaction(() => {
      const known = lastForeignSchema + migrations.length;
      requireOurs(client, path, known);
      const version = client.pragma('user_version', { simple: true }) as number;
      if (version === known) return;
      const applied = version === 0 ? 0 : version - lastForeignSchema;
      for (const { sql } of migrations.slice(applied)) for (const statement of sql) client.exec(statement);
      client.pragma(`user_version = ${known}`);
      client.pragma(`application_id = ${applicationId}`);
    })
    .immediate();
  requireTables(client, path);
  client.pragma('foreign_keys = ON');
}

/** The turn in JSON columns of schema 11, in the order in which migration 0008 passes them. */
function toTurn(parts: readonly unknown[]): TurnRecord {
  const [item, facts, account, answer, timings, tokens, scores, observed, error, given, prefill, prompt] = parts.map(
    (part) => JSON.parse((part as string | null) ?? 'null') as never,
  );
  if ((error as unknown) !== null) return { state: 'failed', error } as unknown as TurnRecord;
  return {
    state: 'answered',
    // Fields that older runs lack.
    item: { acceptedAnswers: [], relation: null, answerPrefix: null, ...(item as unknown as object) },
    scores: { contains: null, locomoF1: null, ...(scores as unknown as object) },
    ...{ facts, account, answer, timings, tokens, observed, given, prefill, prompt },
  } as unknown as TurnRecord;
}
