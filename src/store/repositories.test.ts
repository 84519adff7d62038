import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { newRun as handmadeRun } from '../../test/fixtures/stored-runs.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { answeredTurn } from '../../test/fixtures/turn-record.ts';
import { AttributionRepository } from './attribution-repository.ts';
import { AuditLogRepository } from './audit-log-repository.ts';
import { ConversationRepository } from './conversation-repository.ts';
import { openDatabase, type BenchDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { PreferenceRepository } from './preference-repository.ts';
import { RunRepository, type NewRun } from './run-repository.ts';
import { SessionRepository } from './session-repository.ts';
import { TurnRepository } from './turn-repository.ts';

let database: BenchDatabase;
let sessions: SessionRepository;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  sessions = new SessionRepository(database);
  return () => database.close();
});

describe('MemoryRepository', () => {
  test('gives back content, vector bit by bit, metadata and time', () => {
    const memories = new MemoryRepository(database);
    sessions.getOrCreate('s');
    // A view into a larger buffer: only its own four bytes may be stored.
    const embedding = new Float32Array([9, Math.fround(0.1), -0, 1e-40, 9]).subarray(1, 4);
    const id = memories.create({
      sessionId: 's',
      userId: 'ann',
      content: '我喜欢茶',
      embedding,
      metadata: { value: 'tea', tags: ['a'] },
      createdAt: 1_700_000_000_000,
    });
    expect(memories.getBySession('s')).toEqual([
      {
        id,
        sessionId: 's',
        userId: 'ann',
        content: '我喜欢茶',
        embedding: new Float32Array([Math.fround(0.1), -0, 1e-40]),
        metadata: { value: 'tea', tags: ['a'] },
        createdAt: 1_700_000_000_000,
      },
    ]);
    expect(memories.getEmbedding('s', id)).toEqual(new Float32Array([Math.fround(0.1), -0, 1e-40]));
    expect(memories.getEmbedding('s', 'other')).toBeNull();
  });

  test('replaces an id within its session only, and the replaced one becomes the newest', () => {
    const memories = new MemoryRepository(database);
    for (const sessionId of ['s', 't']) {
      sessions.getOrCreate(sessionId);
      for (const id of ['a', 'b']) memories.create({ id, sessionId, userId: 'ann', content: `${id} in ${sessionId}` });
    }
    memories.create({ id: 'a', sessionId: 's', userId: 'ann', content: 'new' });
    expect(memories.getBySession('s').map(({ content }) => content)).toEqual(['b in s', 'new']);
    expect(memories.getByUser('ann')).toHaveLength(4);
    expect([memories.delete('t', 'a'), memories.delete('t', 'a')]).toEqual([true, false]);
    expect(memories.getBySession('t').map(({ id }) => id)).toEqual(['b']);
  });

  test('a memory needs a session', () => {
    const memories = new MemoryRepository(database);
    expect(() => memories.create({ sessionId: 'nowhere', content: 'x' })).toThrow('FOREIGN KEY');
  });
});

describe('PreferenceRepository', () => {
  const ofAnn = { sessionId: 's', userId: 'ann' };
  let memories: MemoryRepository;
  let preferences: PreferenceRepository;
  beforeEach(() => {
    memories = new MemoryRepository(database);
    preferences = new PreferenceRepository(database);
  });
  const ids = (userId: string, runId?: string) => preferences.getByUser(userId, runId).map(({ id }) => id);
  function prefer(id: string, of: { sessionId: string; userId: string } = ofAnn): void {
    memories.create({ id, ...of, content: `${id} is preferred` });
    preferences.create({ id, ...of, content: `${id} is preferred` });
  }

  test('gives those of a user in the order of writing, with what was given', () => {
    sessions.getOrCreate('s');
    for (const id of ['z', 'a']) prefer(id);
    memories.create({ id: 'fact', ...ofAnn, content: 'a fact' });
    memories.create({ id: 'm', ...ofAnn, content: 'x' });
    preferences.create({ id: 'm', ...ofAnn, content: 'x', metadata: { value: 'tea' } });
    prefer('z', { sessionId: 's', userId: 'ann' });
    expect(ids('ann')).toEqual(['a', 'm', 'z']);
    expect(preferences.getByUser('ann')[1]).toMatchObject({ ...ofAnn, content: 'x', metadata: { value: 'tea' } });
    expect(ids('bob')).toEqual([]);
  });

  test('a preference is a memory, and goes with it', () => {
    expect(() => preferences.create({ id: 'a', ...ofAnn, content: 'x' })).toThrow('FOREIGN KEY');
    sessions.getOrCreate('s');
    for (const id of ['a', 'b']) prefer(id);
    memories.delete('s', 'a');
    expect(ids('ann')).toEqual(['b']);
    // In place of it stands a memory that is none.
    memories.create({ id: 'b', ...ofAnn, content: 'replaced' });
    expect(ids('ann')).toEqual([]);
  });

  test('a user of a run is another than the user of that name', () => {
    const { id: runId } = new RunRepository(database).create(newRun('r'));
    sessions.getOrCreate('s');
    sessions.getOrCreate('of run', { runId });
    prefer('own');
    prefer('of the data', { sessionId: 'of run', userId: 'ann' });
    expect([ids('ann'), ids('ann', runId), ids('ann', 'another run')]).toEqual([['own'], ['of the data'], []]);
  });
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
  expect(conversations.getRecent('s', 99)).toHaveLength(5);
  expect(conversations.getRecent('s', 0)).toEqual([]);
  expect(conversations.getRecent('s', -1)).toEqual([]);
  conversations.create({
    sessionId: 's',
    role: 'assistant',
    content: 'tea',
    injectionMode: 'dki',
    injectionAlpha: 0.4,
    memoryIds: ['m1', 'm2'],
    latencyMs: 12.5,
    tokens: { prompt: 20, kvResident: 31, evaluated: Number.NaN, generated: 4, positions: 51 },
  });
  expect(conversations.getRecent('s', 1)[0]).toMatchObject({
    injectionMode: 'dki',
    injectionAlpha: 0.4,
    memoryIds: ['m1', 'm2'],
    latencyMs: 12.5,
    promptTokens: 20,
    kvResidentTokens: 31,
    evaluatedTokens: null,
    generatedTokens: 4,
    positions: 51,
  });
  expect(conversations.getRecent('s', 2)[0]).toMatchObject({
    injectionAlpha: null,
    promptTokens: null,
    positions: null,
  });
});

test('what is not given is NULL in the file, not the JSON literal', () => {
  const audit = new AuditLogRepository(database);
  audit.log({ action: 'rag_generate', sessionId: 's' });
  const [row] = database.query.all<{ types: string }>(
    'SELECT typeof(memory_ids) || typeof(metadata) || typeof(alpha) AS types FROM audit_logs',
  );
  expect(row?.types).toBe('nullnullnull');
});

describe('RunRepository', () => {
  test('creates, lists, updates only what is given, and refuses a name that is taken', () => {
    const runs = new RunRepository(database);
    const run = runs.create(newRun('first'));
    runs.create(newRun('second'));
    expect(runs.results(run.id)).toBeNull();
    runs.update(run.id, { status: 'finished', results: runResults, finishedAt: run.startedAt + 5 });
    expect(runs.findByName('first')).toEqual({ ...run, status: 'finished', finishedAt: run.startedAt + 5 });
    expect(runs.results(run.id)).toEqual(runResults);
    expect(runs.list().map(({ name, status }) => `${name} ${status}`)).toEqual(['first finished', 'second running']);
    expect(() => runs.create(newRun('first'))).toThrow("has a run 'first' already");
    expect(() => runs.update('nobody', { status: 'failed' })).toThrow('no run with id nobody');
    expect([runs.findByName('third'), runs.results('nobody')]).toEqual([undefined, null]);
  });

  test('gives back the record that it was given', () => {
    const runs = new RunRepository(database);
    const given = { ...newRun('first'), seed: 11 };
    const { schemaVersion, id, status, probes, startedAt, finishedAt, ...back } = runs.create(given);
    expect(back).toEqual(given);
    expect([schemaVersion, status, probes, finishedAt]).toEqual([1, 'running', null, null]);
    expect(runs.findById(id)?.startedAt).toBe(startedAt);
  });

  test('refuses records of another version, and those that are not as they should be, naming file and run', () => {
    const runs = new RunRepository(database);
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

test('an attribution takes the place of the one before', () => {
  const attributions = new AttributionRepository(database);
  const { id: runId } = new RunRepository(database).create(newRun('r'));
  const turnId = new TurnRepository(database).insert({ runId, sessionId: 's' }, answeredTurn('rag'));
  const memories = [{ memoryId: 'm-1', logProbability: -2.5 }];
  attributions.put(turnId, { method: 'text', logProbability: -1, memories: [], modelMs: 3 });
  attributions.put(turnId, { method: 'blocks', logProbability: -0.5, memories, modelMs: 4 });
  expect(attributions.find(turnId)).toEqual({ method: 'blocks', logProbability: -0.5, memories, modelMs: 4 });
  expect(attributions.find(turnId + 1)).toBeUndefined();
});

const newRun = (name: string): NewRun => handmadeRun({ name, turns: [] }, ['rag']);
