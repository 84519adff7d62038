import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { openDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { SessionRepository } from './session-and-message-repositories.ts';

const folder = folderOfEachTest();
let path: string;
beforeEach(() => void (path = folder.file('new/bench.sqlite')));

function makeSession(file: string): void {
  using database = openDatabase({ path: file });
  new SessionRepository(database).getOrCreate('s', { userId: 'ann' });
}

function expectError(work: () => unknown, expected: object = {}): void {
  expect(work).toThrow(expect.objectContaining({ code: 'database', hint: expect.any(String), ...expected }));
}

/** Works on a file without our code. */
function onFile<Result>(file: string, work: (client: Sqlite.Database) => Result): Result {
  const client = new Sqlite(file);
  try {
    return work(client);
  } finally {
    client.close();
  }
}

/** Makes an empty database of that schema. @returns its bytes */
function makeSchema(version: number): Buffer {
  openDatabase({ path }).close();
  onFile(path, (client) => client.exec(`PRAGMA user_version = ${version}; PRAGMA wal_checkpoint(TRUNCATE)`));
  return readFileSync(path);
}

const journalMode = (file: string) => onFile(file, (client) => client.pragma('journal_mode', { simple: true }));

describe('a read-only database', () => {
  test('returns its rows, refuses writes and creates no file', () => {
    makeSession(path);
    using database = openDatabase({ path, readOnly: true });
    expect(database.readOnly).toBe(true);
    expect(new SessionRepository(database).getOrCreate('s', { userId: 'ann' }).userId).toBe('ann');
    expectError(() => new SessionRepository(database).getOrCreate('t'));
    expectError(() => openDatabase({ path: folder.file('none.sqlite'), readOnly: true }));
    expect(existsSync(folder.file('none.sqlite'))).toBe(false);
  });

  test('with an older schema is left unchanged, and the error says how to upgrade it', () => {
    const empty = folder.file('empty.sqlite');
    writeFileSync(empty, '');
    const message = `${empty} has schema 0, and can only be read with schema 15`;
    const hint = expect.stringContaining(`npx dki-bench tables --db ${empty}`) as string;
    expectError(() => openDatabase({ path: empty, readOnly: true }), { message, hint });
    expect(readFileSync(empty)).toHaveLength(0);
  });
});

describe('openDatabase', () => {
  test('creates the folder and the file in WAL mode, and reads its rows again', () => {
    makeSession(path);
    using database = openDatabase({ path });
    expect(new SessionRepository(database).getOrCreate('s', { userId: 'ann' }).userId).toBe('ann');
    expect(journalMode(path)).toBe('wal');
  });

  test('opens one file twice at once', () => {
    using first = openDatabase({ path });
    using second = openDatabase({ path });
    new SessionRepository(first).getOrCreate('s', { userId: 'ann' });
    expectError(() => new SessionRepository(second).getOrCreate('s'), { code: 'no-session' });
  });

  test('refuses a newer schema, naming file and both versions, and leaves the file as it was', () => {
    const before = makeSchema(99);
    const message = `${path} has schema 99, this program knows schemas up to 15`;
    expectError(() => openDatabase({ path }), { message, hint: expect.stringContaining('update dki-bench') });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([1, 2, 3])('refuses schema %i of version 0.1.0 and leaves the file as it is', (schema) => {
    const before = makeSchema(schema);
    const message = `${path} was made by dki-bench 0.1.0`;
    const hint = expect.stringContaining('name another file with --db') as string;
    for (const how of [{}, { readOnly: true as const }])
      expectError(() => openDatabase({ path, ...how }), { message, hint });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("refuses another program's database and a file that is no database", () => {
    const other = folder.file('other.sqlite');
    onFile(other, (client) => client.exec('CREATE TABLE notes (text)'));
    expectError(() => openDatabase({ path: other }), { message: `${other} is a database of another program` });
    expect(journalMode(other)).toBe('delete');

    const letter = folder.file('letter.txt');
    writeFileSync(letter, 'Dear Ann, this is not a database. '.repeat(40));
    const cause = expect.objectContaining({ message: 'file is not a database' }) as Error;
    expectError(() => openDatabase({ path: letter }), { message: `${letter} is not a SQLite database`, cause });
  });

  test('refuses a folder and a path below a file', () => {
    expectError(() => openDatabase({ path: folder.path }), { message: expect.stringContaining(folder.path) });
    writeFileSync(folder.file('file'), '');
    expectError(() => openDatabase({ path: folder.file('file/bench.sqlite') }));
  });

  test('echoes what it executes, values filled in', () => {
    const statements: string[] = [];
    using database = openDatabase({ path: ':memory:', echo: (sql) => statements.push(sql) });
    statements.length = 0;
    database.transaction(() => new SessionRepository(database).getOrCreate('s-1', { userId: 'ann' }));
    expect(statements[0]).toMatch(/^BEGIN/i);
    expect(statements.find((sql) => sql.startsWith('insert'))).toContain("'s-1', 'ann'");
  });
});

describe('transaction', () => {
  test('stores all or nothing', () => {
    using database = openDatabase({ path: ':memory:' });
    const sessions = new SessionRepository(database);
    const work = () => {
      sessions.getOrCreate('s', { userId: 'ann' });
      throw new Error('half way');
    };
    expect(() => database.transaction(work)).toThrow('half way');
    expect(sessions.getOrCreate('s').userId).toBeNull();
  });

  test('reports a full disk in one line, and stores nothing', () => {
    using database = openDatabase({ path });
    const memories = new MemoryRepository(database);
    new SessionRepository(database).getOrCreate('s');
    memories.create({ id: 'm1', sessionId: 's', content: 'before' });
    // The real SQLITE_FULL, by SQLite's own limit.
    database.query.run('PRAGMA max_page_count = 1');
    const write = () => memories.create({ sessionId: 's', content: 'x'.repeat(1_000_000) });
    expectError(write, { code: 'disk', message: `${path}: no space left to write` });
    expect(memories.getBySession('s').map(({ id }) => id)).toEqual(['m1']);
  });
});
