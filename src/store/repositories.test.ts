import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { newRun as handmadeRun } from '../../test/fixtures/stored-runs.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { answeredTurn } from '../../test/fixtures/turn-record.ts';
import { AttributionRepository } from './attribution-repository.ts';
import { AuditLogRepository, ConversationRepository, SessionRepository } from './session-and-message-repositories.ts';
import { openDatabase, type BenchDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { RunRepository, type NewRun } from './run-repository.ts';
import { TurnRepository } from './turn-repository.ts';

let database: BenchDatabase;
let sessions: SessionRepository;
let memories: MemoryRepository;
let runs: RunRepository;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  sessions = new SessionRepository(database);
  memories = new MemoryRepository(database);
  runs = new RunRepository(database);
  return () => database.close();
});

describe('MemoryRepository', () => {
  test('returns content, vector bit by bit, metadata and time', () => {
    sessions.getOrCreate('s');
    // A view into a larger buffer: only its own four bytes may be stored.
    const embedding = new Float32Array([9, Math.fround(0.1), -0, 1e-40, 9]).subarray(1, 4);
    const metadata = { value: 'tea', tags: ['a'] };
    const memory = { sessionId: 's', userId: 'ann', content: '我喜欢茶', metadata, createdAt: 1_700_000_000_000 };
    const id = memories.create({ ...memory, embedding });
    const stored = new Float32Array([Math.fround(0.1), -0, 1e-40]);
    expect(memories.getBySession('s')).toEqual([{ ...memory, id, owner: 'ann', embedding: stored }]);
  });

  test('a user with the name of a session without a user has memories of their own', () => {
    sessions.getOrCreate('s');
    const content = (userId?: string) => `of ${userId ?? 'the session'}`;
    const users = [undefined, 'session s', 'user session s'];
    for (const userId of users) memories.create({ id: 'm', sessionId: 's', userId, content: content(userId) });
    expect(users.map((userId) => memories.getByIds(userId, ['m']).map((row) => row.content))).toEqual(
      users.map((userId) => [content(userId)]),
    );
  });

  test('an id is unique per user, and a memory that is stored again becomes the newest', () => {
    for (const sessionId of ['s', 't']) sessions.getOrCreate(sessionId);
    const create = (id: string, userId: string) =>
      memories.create({ id, sessionId: 's', userId, content: `${id} of ${userId}` });
    for (const id of ['a', 'b']) create(id, 'ann');
    create('a', 'bob');
    memories.create({ id: 'a', sessionId: 't', userId: 'ann', content: 'new' });
    const contents = (list: readonly { readonly content: string }[]) => list.map(({ content }) => content);
    expect(contents(memories.getByUser('ann'))).toEqual(['b of ann', 'new']);
    expect(contents(memories.getByUser('bob'))).toEqual(['a of bob']);
    for (const sessionId of ['s', 't']) memories.create({ id: 'a', sessionId, content: 'of no user' });
    expect(contents(memories.getBySession('t'))).toEqual(['new', 'of no user']);
    expect(() => memories.create({ sessionId: 'nowhere', content: 'x' })).toThrow('FOREIGN KEY');
  });

  test('a removed memory can be stored again', () => {
    sessions.getOrCreate('s');
    const memory = { id: 'a', sessionId: 's', userId: 'ann', content: 'tea' };
    memories.create(memory);
    for (let time = 0; time < 2; time++) memories.delete({ owner: 'ann', id: 'a' });
    expect(memories.getBySession('s')).toEqual([]);
    memories.create(memory);
    expect(memories.getBySession('s')).toMatchObject([memory]);
  });
});

describe('preferences', () => {
  const ofAnn = { sessionId: 's', userId: 'ann' };
  const ids = (userId: string, runId?: string) =>
    new MemoryRepository(database, runId).preferences(userId).map(({ id }) => id);
  function prefer(id: string, more: { metadata?: { value: string }; sessionId?: string } = {}, runId?: string): void {
    const memory = { id, ...ofAnn, content: `${id} is preferred`, ...more };
    const owned = new MemoryRepository(database, runId);
    owned.create(memory);
    owned.prefer(memory);
  }

  test('are listed in the order of writing, with their metadata', () => {
    sessions.getOrCreate('s');
    for (const id of ['z', 'a']) prefer(id);
    memories.create({ id: 'fact', ...ofAnn, content: 'a fact' });
    prefer('m', { metadata: { value: 'tea' } });
    prefer('z');
    expect([ids('ann'), ids('bob')]).toEqual([['a', 'm', 'z'], []]);
    const [, second] = memories.preferences('ann');
    expect(second).toMatchObject({ ...ofAnn, content: 'm is preferred', metadata: { value: 'tea' } });
  });

  test('are deleted with their memories', () => {
    expect(() => memories.prefer({ id: 'a', ...ofAnn, content: 'x' })).toThrow('FOREIGN KEY');
    sessions.getOrCreate('s');
    for (const id of ['a', 'b']) prefer(id);
    memories.delete({ owner: 'ann', id: 'a' });
    expect(ids('ann')).toEqual(['b']);
    // A memory that is no preference takes its place.
    memories.create({ id: 'b', ...ofAnn, content: 'replaced' });
    expect(ids('ann')).toEqual([]);
  });

  test('and memories of a user of a run are not those of a user of the same name', () => {
    const { id: runId } = runs.create(newRun('r'));
    sessions.getOrCreate('s');
    sessions.getOrCreate('of run', { runId });
    prefer('own');
    prefer('of the data', { sessionId: 'of run' }, runId);
    expect([ids('ann'), ids('ann', runId), ids('ann', 'another run')]).toEqual([['own'], ['of the data'], []]);
    expect(new MemoryRepository(database, runId).getByUser('ann')).toHaveLength(1);
  });
});

test('sessions are deleted by the beginning of their ids, with their memories, and no others', () => {
  const names = ['run/isolation/canary-1', 'run/isolation/canary-2', 'run/u01', 'run_/isolation/x', 'run/isolatioN/y'];
  for (const sessionId of names) {
    sessions.getOrCreate(sessionId);
    memories.create({ id: `m of ${sessionId}`, sessionId, userId: 'u', content: 'I ski.' });
  }
  sessions.deleteBeginningWith('run/isolation/');
  expect(memories.getByUser('u').map(({ sessionId }) => sessionId)).toEqual(names.slice(2));
});

test('getRecent gives the newest messages, the oldest of them first', () => {
  const conversations = new ConversationRepository(database);
  sessions.getOrCreate('s');
  sessions.getOrCreate('t');
  for (let i = 0; i < 5; i++) {
    conversations.create({ sessionId: 's', role: i % 2 ? 'assistant' : 'user', content: `${i}` });
    conversations.create({ sessionId: 't', role: 'user', content: 'other' });
  }
  expect(conversations.getRecent('s', 3).map(({ content }) => content)).toEqual(['2', '3', '4']);
  expect([99, 0, -1].map((most) => conversations.getRecent('s', most).length)).toEqual([5, 0, 0]);
  const answer = { injectionMode: 'dki', injectionAlpha: 0.4, memoryIds: ['m1', 'm2'], latencyMs: 12.5 };
  const tokens = { prompt: 20, kvResident: 31, evaluated: Number.NaN, generated: 4, positions: 51 };
  conversations.create({ sessionId: 's', role: 'assistant', content: 'tea', ...answer, tokens });
  const [question, stored] = conversations.getRecent('s', 2);
  const counts = { promptTokens: 20, kvResidentTokens: 31, evaluatedTokens: null, generatedTokens: 4, positions: 51 };
  expect(stored).toMatchObject({ ...answer, ...counts });
  expect(question).toMatchObject({ injectionAlpha: null, promptTokens: null, positions: null });
});

test('missing values are NULL in the file, not the JSON literal', () => {
  new AuditLogRepository(database).log({ action: 'rag_generate', sessionId: 's' });
  const [row] = database.query.all<{ types: string }>(
    'SELECT typeof(memory_ids) || typeof(metadata) || typeof(alpha) AS types FROM audit_logs',
  );
  expect(row?.types).toBe('nullnullnull');
});

describe('RunRepository', () => {
  test('creates, lists, updates only what is given, and refuses a name that is taken', () => {
    const run = runs.create(newRun('first'));
    runs.create(newRun('second'));
    expect(runs.results(run.id)).toBeNull();
    runs.update(run.id, { status: 'finished', results: runResults, finishedAt: run.startedAt + 5 });
    expect(runs.findByName('first')).toEqual({ ...run, status: 'finished', finishedAt: run.startedAt + 5 });
    expect(runs.results(run.id)).toEqual(runResults);
    expect(runs.list().map(({ name, status }) => `${name} ${status}`)).toEqual(['first finished', 'second running']);
    expect(() => runs.create(newRun('first'))).toThrow("has a run 'first' already");
    expect(() => runs.update('unknown', { status: 'failed' })).toThrow('no run with id unknown');
    expect([runs.findByName('third'), runs.results('unknown')]).toEqual([undefined, null]);
  });

  test('returns the stored record unchanged', () => {
    const given = { ...newRun('first'), seed: 11 };
    const { schemaVersion, id, status, probes, startedAt, finishedAt, ...back } = runs.create(given);
    expect(back).toEqual(given);
    expect([schemaVersion, status, probes, finishedAt]).toEqual([1, 'running', null, null]);
    expect(runs.findById(id)?.startedAt).toBe(startedAt);
  });

  test('refuses records of another version and malformed ones, naming file and run', () => {
    const { id } = runs.create(newRun('newer'));
    database.query.run(sql`UPDATE runs SET schema_version = 2`);
    expect(() => runs.findByName('newer')).toThrow(
      'run "newer" in :memory: holds records of version 2, this program reads version 1',
    );
    database.query.run(sql`UPDATE runs SET schema_version = 1, plan = json_set(plan, '$.arms', 'none')`);
    expect(() => runs.findById(id)).toThrow('run "newer" in :memory: cannot be read: plan.arms: ');
    expect(runs.names()).toEqual(['newer']);
  });
});

test('an attribution replaces the one before', () => {
  const attributions = new AttributionRepository(database);
  const { id: runId } = runs.create(newRun('r'));
  const turnId = new TurnRepository(database).put({ runId, sessionId: 's' }, answeredTurn('rag'));
  const memories = [{ memoryId: 'm-1', logProbability: -2.5 }];
  attributions.put(turnId, { method: 'text', logProbability: -1, memories: [], modelMs: 3 });
  attributions.put(turnId, { method: 'blocks', logProbability: -0.5, memories, modelMs: 4 });
  expect(attributions.find(turnId)).toEqual({ method: 'blocks', logProbability: -0.5, memories, modelMs: 4 });
  expect(attributions.find(turnId + 1)).toBeUndefined();
});

const newRun = (name: string): NewRun => handmadeRun({ name, turns: [] }, ['rag']);
