import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { answeredTurn } from '../../test/fixtures/turn-record.ts';
import { openDatabase } from './database.ts';
import { ResultRepository } from './result-repository.ts';
import { RunUserRepository } from './run-user-repository.ts';
import { packedResults, turns as turnsTable } from './schema.ts';
import { TurnRepository } from './turn-repository.ts';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'dki-bench-results-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const turns = ['ann', 'zoe'].flatMap((userId) =>
  ['rag', 'dki'].map((arm) => ({ itemId: `${userId}-1`, userId, arm, right: true })),
);

const answersOf = (results: ResultRepository, userId: string): (string | null)[] =>
  results.ofUser(userId).map((turn) => (turn.state === 'answered' ? turn.answer.text : null));

test('a copy is made once, and again after each change of a turn of its user', () => {
  using database = openDatabase({ path: ':memory:' });
  const { id } = storeRun(database, { name: 'r', turns });
  const results = new ResultRepository(database, id);
  const kept = (): string[] => database.query.select().from(packedResults).all().map(({ userId }) => userId); // prettier-ignore
  expect(results.userIds()).toEqual(['ann', 'zoe']);
  const before = answersOf(results, 'ann');
  expect(before).toHaveLength(2);
  results.ofUser('zoe');
  expect(kept()).toEqual(['ann', 'zoe']);
  const ofAnn = eq(turnsTable.userId, 'ann');
  database.query
    .update(turnsTable)
    .set({ answer: sql`json_set(answer, '$.text', 'changed')` })
    .where(ofAnn)
    .run();
  expect(kept()).toEqual(['zoe']);
  expect(answersOf(results, 'ann')).toEqual(['changed', 'changed']);
  const late = answeredTurn('none', { changes: { userId: 'ann', itemId: 'ann-1' } });
  new TurnRepository(database).insert({ runId: id, sessionId: 's' }, late);
  expect(kept()).toEqual(['zoe']);
  expect(answersOf(results, 'ann')).toHaveLength(3);
  database.query.delete(turnsTable).where(ofAnn).run();
  expect([kept(), results.userIds()]).toEqual([['zoe'], ['zoe']]);
});

test('a user who is finished is packed, and another release packs them anew', () => {
  using database = openDatabase({ path: ':memory:' });
  const { id } = storeRun(database, { name: 'r', turns });
  const users = new RunUserRepository(database, id);
  users.claim({ userId: 'ann', position: 0, turns: 3 }, 'me');
  users.finish('ann', 'me', null as never);
  const [packed] = database.query.select().from(packedResults).all();
  expect(packed).toMatchObject({ userId: 'ann', turns: 2 });
  database.query.update(packedResults).set({ layout: 'of another release', values: '' }).run();
  expect(answersOf(new ResultRepository(database, id), 'ann')).toHaveLength(2);
  expect(database.query.select().from(packedResults).all()).toEqual([packed]);
});

test.each([
  ['places', Buffer.from('')],
  ['values', '{'],
  ['numbers', Buffer.from('odd')],
])('a copy with damaged %s is made again', (column, value) => {
  using database = openDatabase({ path: ':memory:' });
  const { id } = storeRun(database, { name: 'r', turns });
  const results = new ResultRepository(database, id);
  const before = answersOf(results, 'ann');
  const kept = database.query.select().from(packedResults).all();
  database.query.run(sql`UPDATE packed_results SET ${sql.identifier(column)} = ${value}`);
  expect(answersOf(results, 'ann')).toEqual(before);
  expect(database.query.select().from(packedResults).all()).toEqual(kept);
});

test('a database that is only read is read without a copy, and with one', () => {
  const path = join(folder, 'read.sqlite');
  let id: string;
  {
    using database = openDatabase({ path });
    ({ id } = storeRun(database, { name: 'r', turns }));
    new ResultRepository(database, id).pack('zoe');
  }
  using database = openDatabase({ path, readOnly: true });
  const results = new ResultRepository(database, id);
  expect(results.userIds().map((userId) => answersOf(results, userId).length)).toEqual([2, 2]);
});
