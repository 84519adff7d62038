import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { beforeEach, expect, test } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { type Scores, turnRecord } from './records/turn-record.ts';
import { AttributionRepository } from './attribution-repository.ts';
import { JudgeVerdictRepository } from './judge-verdict-repository.ts';
import { openDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { RunRepository } from './run-repository.ts';
import * as schema from './schema.ts';
import { TurnListRepository } from './turn-list-repository.ts';
import { TurnRepository } from './turn-repository.ts';

/** A database of version 0.1.0 (schema 11), made by commit 6b3befc8: one run of 40 turns. */
const release = join(import.meta.dirname, '../../test/fixtures/release-0.1.0/dki-bench.sqlite');
const migrationsFolder = join(import.meta.dirname, '../../migrations');
/** Parts of a turn, which were one JSON column each. */
const parts = [
  'item',
  'facts',
  'account',
  'answer',
  'timings',
  'tokens',
  'scores',
  'observed',
  'error',
  'given',
  'prefill',
  'prompt',
];

type Row = Readonly<Record<string, string | number | null>>;

const folder = folderOfEachTest();
let path: string;
beforeEach(() => void (path = folder.file('bench.sqlite')));

/** The rows of a query on a file, without our code. */
function rowsOf(file: string, query: string): Row[] {
  const client = new Sqlite(file, { readonly: true });
  const rows = client.prepare<[], Row>(query).all();
  client.close();
  return rows;
}

/** The record of a row of the `turns` of schema 11. */
function oldRecord(row: Row) {
  const documents = parts.map((part) => [part, JSON.parse((row[part] as string | null) ?? 'null') as unknown]);
  return { ...turnRecord.parse({ ...row, ...camelKey(row), ...Object.fromEntries(documents) }), id: row['id'] };
}

const camelKey = (row: Row) => ({ itemId: row['item_id'], userId: row['user_id'] });

const releasedRecords = rowsOf(release, 'SELECT * FROM turns ORDER BY id').map(oldRecord);
const releasedRows = rowsOf(release, 'SELECT * FROM turn_list ORDER BY turn_id');

/** Scores of a release that had no `squadExactMatch`. */
const storedScores = ({ squadExactMatch: _, ...scores }: Scores) => scores;

test('every turn of a database of version 0.1.0 keeps every field', () => {
  copyFileSync(release, path);
  expect(releasedRecords).toHaveLength(40);
  using database = openDatabase({ path });
  const [run] = new RunRepository(database).list();
  const turns = new TurnRepository(database);
  expect([...turns.listByRun(run!.id)]).toEqual(releasedRecords);
  const results = [...turns.listForResults(run!.id)];
  expect(results).toMatchObject(
    releasedRecords.map((turn) => {
      if (turn.state === 'failed') throw new Error('the release has no failed turn');
      const { id: _, prompt: __, given, prefill, answer, observed, ...others } = turn;
      const { goldTokens, nextTokens: ___, ...measured } = observed;
      return {
        ...{ ...others, scores: storedScores(others.scores), answer: { text: answer.text } },
        ...{ given: { retrieval: given.retrieval }, prefill: prefill && { sizeBytes: prefill.sizeBytes } },
        observed: { ...measured, goldTokens: { length: goldTokens.length } },
      };
    }),
  );
  const rows = [...new TurnListRepository(database).rows(run!.id)];
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const asStored = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);
  const shown = rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [snake(k), asStored(v)])));
  expect(shown).toEqual(releasedRows.map(({ disagreeing: _, run_id: __, ...row }) => row));
});

test('memories, token texts and messages of version 0.1.0 are kept', () => {
  copyFileSync(release, path);
  const counted = ['memories', 'token_pieces', 'conversations', 'sessions', 'audit_logs', 'run_users'];
  const count = () => counted.map((table) => rowsOf(path, `SELECT count(*) AS n FROM ${table}`)[0]!['n']);
  const before = count();
  using database = openDatabase({ path });
  expect(count()).toEqual(before);
  const [run] = new RunRepository(database).list();
  const owner = new MemoryRepository(database, run!.id);
  const ids = rowsOf(release, `SELECT id FROM memories WHERE user_id = 'u20' ORDER BY rowid`).map((row) => row['id']);
  expect(owner.getByUser('u20').map(({ id }) => id)).toEqual(ids);
  expect(new MemoryRepository(database).getByUser('u20')).toEqual([]);
});

/** Makes a database of an older schema, with a run of the release, its turns, a session and two preferences. */
function storeOlder(version: number): void {
  const client = new Sqlite(path);
  client.pragma('foreign_keys = OFF');
  const migrations = readMigrationFiles({ migrationsFolder }).slice(0, version - 3);
  for (const { sql } of migrations) for (const statement of sql) client.exec(statement);
  client.pragma(`user_version = ${version}`);
  client.pragma('application_id = 0x444b4942');
  client.exec(`ATTACH '${release}' AS release`);
  client.exec('INSERT INTO runs SELECT * FROM release.runs; INSERT INTO turns SELECT * FROM release.turns');
  client.exec(`INSERT INTO attributions VALUES (3, 'text', -1, '[]', 2, 5)`);
  client.exec(`INSERT INTO sessions (id, user_id, created_at) VALUES ('s', 'ann', 1)`);
  for (const id of ['b', 'a', 'c']) {
    const [mark, value] = version < 7 ? ['preference,', `${Number(id !== 'c')},`] : ['', ''];
    const columns = `id, session_id, user_id, content, metadata, created_at`;
    const values = `'${id}', 's', 'ann', 'about ${id}', '{"value":"${id}"}', 1`;
    client.exec(`INSERT INTO memories (${mark} ${columns}) VALUES (${value} ${values})`);
    if (version >= 7 && id !== 'c') client.exec(`INSERT INTO user_preferences (${columns}) VALUES (${values})`);
  }
  client.close();
}

test.each([4, 5, 6, 7, 8, 9, 10, 11])('a database of schema %i is upgraded without loss', (version) => {
  storeOlder(version);
  using database = openDatabase({ path });
  const [run] = new RunRepository(database).list();
  expect([...new TurnRepository(database).listByRun(run!.id)]).toEqual(releasedRecords);
  const rows = [...new TurnListRepository(database).rows(run!.id)];
  const marks = rows.map(({ primaryValue, failedStage, cache }) => [primaryValue, failedStage, cache]);
  expect(marks).toEqual(releasedRows.map((row) => [row['primary_value'], row['failed_stage'], row['cache']]));
  expect(new AttributionRepository(database).find(3)).toMatchObject({ logProbability: -1 });
  const memories = new MemoryRepository(database);
  expect(memories.getBySession('s').map(({ content }) => content)).toEqual(['about b', 'about a', 'about c']);
  expect(memories.preferences('ann')).toMatchObject([
    { id: 'b', sessionId: 's', content: 'about b', metadata: { value: 'b' } },
    { id: 'a', sessionId: 's', content: 'about a', metadata: { value: 'a' } },
  ]);
});

test('answers of the former class stale get the class superseded', () => {
  storeOlder(11);
  const client = new Sqlite(path);
  client.exec(`UPDATE turns SET scores = json_set(scores, '$.wrongClass', 'stale', '$.taskSuccess', 0) WHERE id = 7`);
  client.exec(`UPDATE turn_list SET wrong_class = 'stale' WHERE turn_id = 7`);
  client.close();
  using database = openDatabase({ path });
  const [run] = new RunRepository(database).list();
  const turn = [...new TurnRepository(database).listByRun(run!.id)].find(({ id }) => id === 7)!;
  expect(turn).toMatchObject({ scores: { wrongClass: 'superseded' } });
  expect(new TurnListRepository(database).items(run!.id, { wrongClass: 'superseded' })).toEqual([turn.itemId]);
});

test('verdicts of judges are kept, as grades from 0 to 1', () => {
  storeOlder(11);
  const client = new Sqlite(path);
  client.exec(`INSERT INTO judge_verdicts (key, "right", created_at) VALUES ('a', 1, 5), ('b', 0, 6)`);
  client.close();
  using database = openDatabase({ path });
  const verdicts = new JudgeVerdictRepository(database);
  verdicts.add('c', 0.5);
  expect(['a', 'b', 'c', 'd'].map((key) => verdicts.find(key))).toEqual([1, 0, 0.5, undefined]);
});

test('a database that cannot be upgraded is left unchanged', () => {
  storeOlder(11);
  const client = new Sqlite(path);
  client.exec(`UPDATE turns SET prompt = '{' WHERE id = 40`);
  client.close();
  const before = readFileSync(path);
  expect(() => openDatabase({ path })).toThrow('a record cannot be read');
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('the columns of schema.ts are those of the migrations', () => {
  using database = openDatabase({ path });
  const tables = Object.values<unknown>(schema).filter((value) => is(value, SQLiteTable));
  const declared = tables.flatMap((table) =>
    Object.values<SQLiteColumn>(getTableColumns(table)).map(
      (column) => `${getTableName(table)}.${column.name} ${column.getSQLType()} ${column.notNull}`,
    ),
  );
  const made = database.query.all<Row>(
    `SELECT m.name || '.' || c.name AS name, lower(c.type) AS type, c."notnull" AS required
    FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
  );
  expect(declared.sort()).toEqual(made.map(({ name, type, required }) => `${name} ${type} ${required === 1}`).sort());
});

test.each([
  ['PRAGMA user_version = 0', 'it has tables, and its user_version is 0'],
  ['DROP TABLE run_users', 'it has no table "run_users"'],
  ['ALTER TABLE turns RENAME COLUMN measures TO sizes', 'its table "turns" has no column "measures"'],
])('a file after %s is named as damaged, to read and to write', (statement, why) => {
  openDatabase({ path }).close();
  const client = new Sqlite(path);
  client.exec(statement);
  client.close();
  for (const mode of [{}, { readOnly: true }] as const) {
    expect(() => openDatabase({ path, ...mode })).toThrow(
      expect.objectContaining({ code: 'database', message: `${path} is damaged: ${why}` }),
    );
  }
});
