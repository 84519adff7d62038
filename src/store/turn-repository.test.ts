import { sql } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { newRun as handmadeRun } from '../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../test/fixtures/turn-record.ts';
import type { AnsweredTurn } from './records/turn-record.ts';
import { AuditLogRepository, ConversationRepository, SessionRepository } from './session-and-message-repositories.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { RunRepository } from './run-repository.ts';
import { type TurnPlace, TurnRepository } from './turn-repository.ts';

let database: BenchDatabase;
let sessions: SessionRepository;
let turns: TurnRepository;
let runId: string;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  sessions = new SessionRepository(database);
  turns = new TurnRepository(database);
  runId = newRun('r');
  return () => database.close();
});

test('lists in pages, in order, filtered, while other statements run', () => {
  const otherId = newRun('other');
  database.transaction(() => {
    for (let i = 0; i < 450; i++) {
      for (const arm of ['rag', 'dki']) insert({ sessionId: `${arm}${i}` }, { arm, itemId: `i${i}` });
    }
    insert({ runId: otherId });
  });
  const read: string[] = [];
  for (const { itemId } of turns.listByRun(runId, { arm: 'dki' })) {
    if (read.length === 0) sessions.getOrCreate('meanwhile');
    read.push(itemId);
  }
  expect(read).toEqual(Array.from({ length: 450 }, (_, i) => `i${i}`));
  expect([...turns.listByRun(runId)]).toHaveLength(900);
});

test.each([
  ['measures', '{"scores":', 'listForResults', /: the turn of rag on item "i1": /],
  ['measures', '{}', 'listForResults', /: the turn of rag on item "i1": item: /],
  ['measures', 'null', 'listForResults', /: the turn of rag on item "i1": /],
  ['measures', 'null', 'listByRun', /the turn of item i1, arm rag cannot be read: item: /],
  ['measures', '{"scores":', 'listByRun', /a record cannot be read: /],
  ['measures', '{"given":{},"answer":{},"observed":{}}', 'listByRun', /the turn of item i1, arm rag cannot be read: /],
  ['document', Buffer.from('{}'), 'listByRun', /a record cannot be read: incorrect header check/],
] as const)('a damaged document in the column %s (%s) is named by %s', (column, damage, list, message) => {
  insert({}, { arm: 'rag', itemId: 'i1' });
  database.query.run(sql`UPDATE turns SET ${sql.identifier(column)} = ${damage}`);
  expect(() => [...turns[list](runId)]).toThrow(
    expect.objectContaining({ code: 'database', message: expect.stringMatching(message) as string }),
  );
});

test('a score that is not a number is named where results are computed', () => {
  insert({}, { arm: 'rag', itemId: 'i1' });
  database.query.run(sql`UPDATE turns SET measures = json_set(measures, '$.scores.contains', json('1e999'))`);
  expect(() => [...turns.listForResults(runId)]).toThrow(/"i1": scores\.contains: .*Infinity/);
});

test('lists what results need as `listByRun` does, in order of writing', () => {
  const otherId = newRun('other');
  const prefix = { strategy: 'prefix', key: 'k', tokens: 31, origin: 'disk', computeMs: 0, memoryIds: ['m'] } as const;
  const memoryLines = { tokens: 17, cells: 9 };
  const prefills = { zoe: { ...prefix, alpha: 1, sizeBytes: 2048, memoryLines }, ann: null };
  for (const userId of ['zoe', 'ann'] as const) {
    const scores = { ...base.scores, exactMatch: 0.1 };
    insert({}, { userId, itemId: userId, scores, prefill: prefills[userId] });
  }
  insert({ runId: otherId });
  turns.put({ runId, sessionId: 's' }, failedTurn('rag', 'no cell left', { itemId: 'lost' }));
  const expected = [...turns.listByRun(runId)].map(({ id: _, ...turn }) => {
    if (turn.state === 'failed') return turn;
    const { prompt: _prompt, prefill, given, answer, observed, ...rest } = turn;
    const { nextTokens: _next, goldTokens, ...measured } = observed;
    const seen = { ...measured, goldTokens: { length: goldTokens.length } };
    const parts = { given: { retrieval: given.retrieval }, answer: { text: answer.text }, observed: seen };
    const kept = prefill && { sizeBytes: prefill.sizeBytes, memoryLines: prefill.memoryLines };
    return { ...rest, ...parts, prefill: kept };
  });
  expect(expected.map(({ itemId }) => itemId)).toEqual(['zoe', 'ann', 'lost']);
  expect([...turns.listForResults(runId)]).toEqual(expected);
  expect([...turns.listForResults(runId, { userId: 'zoe' })]).toEqual([expected[0]]);
});

test('keeps one turn per key, and lists the turns of an arm ordered by repeat and turn', () => {
  for (const [repeat, turn] of [
    [1, 0],
    [0, 1],
    [0, 0],
  ] as const)
    insert({}, { repeat, turn });
  turns.put({ runId, sessionId: 's' }, failedTurn('dki', 'out of cells', { itemId: 'item' }));
  expect(turns.find(runId, 'item', 'rag').map((row) => [row.repeat, row.turn])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
  ]);
  const [failed] = turns.find(runId, 'item', 'dki');
  const key = { itemId: 'item', userId: 'u-1', arm: 'dki', repeat: 0, turn: 0, position: 0 };
  expect(failed).toEqual({ id: 4, state: 'failed', ...key, error: { code: null, message: 'out of cells' } });
  // A turn that is stored again, by a worker that was interrupted, stays as it is.
  expect(insert({}, { repeat: 1, answer: { ...base.answer, text: 'again' } })).toBe(1);
  const texts = turns.find(runId, 'item', 'rag').map((turn) => 'answer' in turn && turn.answer.text);
  expect(texts).toEqual([base.answer.text, base.answer.text, base.answer.text]);
});

test('returns the stored record unchanged, and refuses a malformed one', () => {
  const given = answeredTurn('dki', { injected: true });
  const id = turns.put({ runId, sessionId: 's' }, given);
  expect(turns.find(runId, given.itemId, 'dki')).toEqual([{ ...given, id }]);
  database.query.run(sql`UPDATE turns SET measures = json_set(measures, '$.tokens', json('{"prompt":1}'))`);
  const message = 'the turn of item i-7, arm dki cannot be read: tokens.kvResident: ';
  expect(() => turns.find(runId, given.itemId, 'dki')).toThrow(message);
});

test("deleteUser removes all of one run's user and nothing else", () => {
  const conversations = new ConversationRepository(database);
  const audit = new AuditLogRepository(database);
  const ids = ['one', 'two'].map(newRun);
  for (const runId of ids) {
    for (const userId of ['ann', 'bob']) {
      const sessionId = `${runId}/${userId}`;
      sessions.getOrCreate(sessionId, { userId });
      sessions.getOrCreate(`${sessionId}/unfinished`, { userId, runId });
      for (const id of [sessionId, `${sessionId}/unfinished`]) {
        conversations.create({ sessionId: id, role: 'user', content: 'hello' });
        audit.log({ action: 'rag_generate', sessionId: id });
      }
      insert({ runId, sessionId }, { userId, itemId: userId });
    }
  }
  expect(turns.deleteUser(ids[0]!, 'ann')).toBe(1);
  const left = [`${ids[0]}/bob`, `${ids[1]}/ann`, `${ids[1]}/bob`];
  expect([...turns.listByRun(ids[0]!)].map(({ userId }) => userId)).toEqual(['bob']);
  for (const [id, expected] of [[`${ids[0]}/ann`, 0], ...left.map((id) => [id, 1] as const)] as const) {
    expect(conversations.getRecent(id, 9)).toHaveLength(expected);
    expect(conversations.getRecent(`${id}/unfinished`, 9)).toHaveLength(expected);
    expect(audit.getBySession(id)).toHaveLength(expected);
  }
  expect([...turns.listByRun(ids[1]!)]).toHaveLength(2);
});

/** Stores a run of that name. @returns its id */
const newRun = (name: string) => new RunRepository(database).create(handmadeRun({ name, turns: [] }, ['rag'])).id;

const base = answeredTurn('rag');

/** Stores a turn of `rag` on `item` in the run, changed as given. */
function insert(place: Partial<TurnPlace> = {}, { arm = 'rag', ...more }: Partial<AnsweredTurn> = {}) {
  return turns.put({ sessionId: 's', runId, ...place }, answeredTurn(arm, { changes: { itemId: 'item', ...more } }));
}
