import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { BenchError } from '../base/bench-error.ts';
import { openDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { SessionRepository } from './session-repository.ts';

const folder = folderOfEachTest();
let path: string;
beforeEach(() => void (path = folder.file('new/bench.sqlite')));

function makeSession(file: string): void {
  using database = openDatabase({ path: file });
  new SessionRepository(database).getOrCreate('s', { userId: 'ann' });
}

function failure(work: () => unknown): BenchError {
  try {
    work();
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a database that is only read', () => {
  test('gives its rows, lets nothing be written and makes no file', () => {
    makeSession(path);
    using database = openDatabase({ path, readOnly: true });
    expect(database.readOnly).toBe(true);
    expect(new SessionRepository(database).getOrCreate('s').userId).toBe('ann');
    expect(failure(() => new SessionRepository(database).getOrCreate('t')).code).toBe('database');
    expect(failure(() => openDatabase({ path: folder.file('none.sqlite'), readOnly: true })).code).toBe('database');
    expect(existsSync(folder.file('none.sqlite'))).toBe(false);
  });

  test('of an older schema stays as it is, and says what brings it up to date', () => {
    const empty = folder.file('empty.sqlite');
    writeFileSync(empty, '');
    const { code, message, hint } = failure(() => openDatabase({ path: empty, readOnly: true }));
    expect([code, message]).toEqual(['database', `${empty} has schema 0, and can only be read with schema 12`]);
    expect(hint).toContain(`npm run tables -- --db ${empty}`);
    expect(readFileSync(empty)).toHaveLength(0);
  });
});

describe('openDatabase', () => {
  test('makes the folder and the file, in WAL mode, and finds its rows again', () => {
    makeSession(path);
    using database = openDatabase({ path });
    expect(new SessionRepository(database).getOrCreate('s', { userId: 'bob' }).userId).toBe('ann');
    using client = opened(path);
    expect(client.pragma('journal_mode')).toBe('wal');
  });

  test('opens one file twice at once', () => {
    using first = openDatabase({ path });
    using second = openDatabase({ path });
    new SessionRepository(first).getOrCreate('s', { userId: 'ann' });
    expect(new SessionRepository(second).getOrCreate('s').userId).toBe('ann');
  });

  test('refuses a newer schema, naming file and both versions, and leaves the file as it was', () => {
    openDatabase({ path }).close();
    using client = opened(path);
    client.run('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)');
    const before = readFileSync(path);
    const error = failure(() => openDatabase({ path }));
    expect(error.code).toBe('database');
    expect(error.message).toBe(`${path} has schema 99, this program knows schemas up to 12`);
    expect(error.hint).toContain('update dki-bench');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([1, 2, 3])('refuses schema %i of version 0.1.0 and leaves the file as it is', (schema) => {
    openDatabase({ path }).close();
    using client = opened(path);
    client.run(`PRAGMA user_version = ${schema}; PRAGMA wal_checkpoint(TRUNCATE)`);
    const before = readFileSync(path);
    for (const options of [{ path }, { path, readOnly: true }] as const) {
      const { code, message, hint } = failure(() => openDatabase(options));
      expect([code, message]).toEqual(['database', `${path} was made by dki-bench 0.1.0`]);
      expect(hint).toContain('name another file with --db');
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("refuses another program's database and a file that is none", () => {
    const other = folder.file('other.sqlite');
    using client = opened(other);
    client.run('CREATE TABLE notes (text)');
    expect(failure(() => openDatabase({ path: other })).message).toBe(`${other} is a database of another program`);
    expect(client.pragma('journal_mode')).toBe('delete');

    const letter = folder.file('letter.txt');
    writeFileSync(letter, 'Dear Ann, this is not a database. '.repeat(40));
    const error = failure(() => openDatabase({ path: letter }));
    expect([error.code, error.message]).toEqual(['database', `${letter} is not a SQLite database`]);
    expect((error.cause as Error).message).toBe('file is not a database');
  });

  test('refuses a folder and a path below a file', () => {
    expect(failure(() => openDatabase({ path: folder.path })).message).toContain(folder.path);
    const file = folder.file('file');
    writeFileSync(file, '');
    expect(failure(() => openDatabase({ path: join(file, 'bench.sqlite') })).code).toBe('database');
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
    const work = () =>
      database.transaction(() => {
        sessions.getOrCreate('s', { userId: 'ann' });
        throw new Error('half way');
      });
    expect(work).toThrow('half way');
    expect(sessions.getOrCreate('s').userId).toBeNull();
  });

  test('a full disk is said in one line and takes nothing with it', () => {
    using database = openDatabase({ path });
    const memories = new MemoryRepository(database);
    new SessionRepository(database).getOrCreate('s');
    memories.create({ id: 'm1', sessionId: 's', content: 'before' });
    // The real SQLITE_FULL, by SQLite's own limit.
    database.query.run('PRAGMA max_page_count = 1');
    const error = failure(() => memories.create({ sessionId: 's', content: 'x'.repeat(1_000_000) }));
    expect([error.code, error.message]).toEqual(['disk', `${path}: no space left to write`]);
    expect(memories.getBySession('s').map(({ id }) => id)).toEqual(['m1']);
  });
});

function opened(file: string) {
  const client = new Sqlite(file);
  return {
    run: (sql: string) => client.exec(sql),
    pragma: (name: string) => client.pragma(name, { simple: true }),
    [Symbol.dispose]: () => client.close(),
  };
}
