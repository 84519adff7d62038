import { beforeEach, describe, expect, test } from 'vitest';
import { AuditLogRepository } from './audit-log-repository.ts';
import { ConversationRepository } from './conversation-repository.ts';
import { openDatabase, type BenchDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { PreferenceRepository } from './preference-repository.ts';
import { RunRepository, type NewRun } from './run-repository.ts';
import { SessionRepository } from './session-repository.ts';
import { TurnRepository, type NewTurn } from './turn-repository.ts';

let database: BenchDatabase;
let sessions: SessionRepository;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  sessions = new SessionRepository(database);
  return () => database.close();
});

describe('MemoryRepository', () => {
  test('gives back content, vector bit by bit, flag, metadata and time', () => {
    const memories = new MemoryRepository(database);
    sessions.getOrCreate('s');
    // A view into a larger buffer: only its own four bytes may be stored.
    const embedding = new Float32Array([9, Math.fround(0.1), -0, 1e-40, 9]).subarray(1, 4);
    const id = memories.create({
      sessionId: 's',
      userId: 'ann',
      content: '我喜欢茶',
      embedding,
      preference: true,
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
        preference: true,
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
  });
  expect(conversations.getRecent('s', 1)[0]).toMatchObject({
    injectionMode: 'dki',
    injectionAlpha: 0.4,
    memoryIds: ['m1', 'm2'],
    latencyMs: 12.5,
    metadata: null,
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

test('preferences are listed by user in order of writing', () => {
  const preferences = new PreferenceRepository(database);
  preferences.create({ id: 'p1', userId: 'ann', content: 'vegetarian' });
  preferences.create({ userId: 'bob', content: 'loud music' });
  preferences.create({ userId: 'ann', content: 'short answers' });
  preferences.create({ id: 'p1', userId: 'ann', content: 'vegan' });
  expect(preferences.getByUser('ann').map(({ content }) => content)).toEqual(['short answers', 'vegan']);
});

describe('RunRepository', () => {
  test('creates, lists, updates only what is given, and refuses a name that is taken', () => {
    const runs = new RunRepository(database);
    const run = runs.create(newRun('first'));
    runs.create(newRun('second'));
    runs.update(run.id, { status: 'finished', results: { arms: [] }, finishedAt: run.startedAt + 5 });
    expect(runs.findByName('first')).toEqual({
      ...run,
      status: 'finished',
      results: { arms: [] },
      finishedAt: run.startedAt + 5,
    });
    expect(runs.list().map(({ name, status }) => `${name} ${status}`)).toEqual(['first finished', 'second running']);
    expect(() => runs.create(newRun('first'))).toThrow("has a run 'first' already");
    expect(() => runs.update('nobody', { status: 'failed' })).toThrow('no run with id nobody');
    expect(runs.findByName('third')).toBeUndefined();
  });
});

describe('TurnRepository', () => {
  test('lists in pages, in order, filtered, while other statements run', () => {
    const turns = new TurnRepository(database);
    const { id: runId } = new RunRepository(database).create(newRun('r'));
    const { id: otherId } = new RunRepository(database).create(newRun('other'));
    database.transaction(() => {
      for (let i = 0; i < 450; i++) {
        for (const arm of ['rag', 'dki'])
          turns.insert(newTurn(runId, { arm, itemId: `i${i}`, sessionId: `${arm}${i}` }));
      }
      turns.insert(newTurn(otherId, {}));
    });
    const read: string[] = [];
    for (const { itemId } of turns.listByRun(runId, { arm: 'dki' })) {
      if (read.length === 0) sessions.getOrCreate('meanwhile');
      read.push(itemId);
    }
    expect(read).toEqual(Array.from({ length: 450 }, (_, i) => `i${i}`));
    expect([...turns.listByRun(runId)]).toHaveLength(900);
  });

  test('lists what results need as `listByRun` does, in order of writing, and says what SQLite says', () => {
    const turns = new TurnRepository(database);
    const { id: runId } = new RunRepository(database).create(newRun('r'));
    const { id: otherId } = new RunRepository(database).create(newRun('other'));
    for (const userId of ['zoe', 'ann']) turns.insert(newTurn(runId, { userId, itemId: userId, scores: { exactMatch: 0.1 } })); // prettier-ignore
    turns.insert(newTurn(otherId, {}));
    turns.insert(newTurn(runId, { itemId: 'lost', scores: null, answer: '', error: 'no cell left' }));
    const columns = ['id', 'itemId', 'userId', 'arm', 'repeat', 'timings', 'tokens', 'scores', 'answer', 'error'];
    const expected = [...turns.listByRun(runId)].map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name))),
    );
    expect(expected.map(({ itemId }) => itemId)).toEqual(['zoe', 'ann', 'lost']);
    expect([...turns.listForResults(runId)]).toEqual(expected);
    expect([...turns.listForResults(runId, { userId: 'zoe' })]).toEqual([expected[0]]);
    const rows = turns.listForResults(runId);
    rows.next();
    expect(() => sessions.getOrCreate('meanwhile')).toThrow('busy');
    rows.return();
    expect(sessions.getOrCreate('afterwards')).toBeDefined();
  });

  test('holds one turn of a kind, and finds those of an arm by repeat and turn', () => {
    const turns = new TurnRepository(database);
    const { id: runId } = new RunRepository(database).create(newRun('r'));
    for (const [repeat, turn] of [[1, 0], [0, 1], [0, 0]] as const) turns.insert(newTurn(runId, { repeat, turn })); // prettier-ignore
    turns.insert(newTurn(runId, { arm: 'dki', answer: '', error: 'out of cells', scores: null }));
    expect(turns.find(runId, 'item', 'rag').map((row) => [row.repeat, row.turn])).toEqual([[0, 0], [0, 1], [1, 0]]); // prettier-ignore
    expect(turns.find(runId, 'item', 'dki')[0]).toMatchObject({
      error: 'out of cells',
      scores: null,
      kv: { blocks: 2 },
    });
    expect(() => turns.insert(newTurn(runId, { repeat: 1 }))).toThrow('UNIQUE');
  });

  test("deleteUser removes all of one run's user and nothing else", () => {
    const turns = new TurnRepository(database);
    const runs = new RunRepository(database);
    const conversations = new ConversationRepository(database);
    const audit = new AuditLogRepository(database);
    const ids = ['one', 'two'].map((name) => runs.create(newRun(name)).id);
    for (const runId of ids) {
      for (const userId of ['ann', 'bob']) {
        const sessionId = `${runId}/${userId}`;
        sessions.getOrCreate(sessionId, { userId });
        sessions.getOrCreate(`${sessionId}/unfinished`, { userId, runId });
        for (const id of [sessionId, `${sessionId}/unfinished`]) {
          conversations.create({ sessionId: id, role: 'user', content: 'hello' });
          audit.log({ action: 'rag_generate', sessionId: id });
        }
        turns.insert(newTurn(runId, { userId, itemId: userId, sessionId }));
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
});

function newRun(name: string): NewRun {
  return {
    name,
    suite: 'main',
    seed: 7,
    config: { topK: 5 },
    environment: { git: { commit: 'abc', dirty: false } },
    model: { name: 'm' },
    embedder: null,
    dataset: { items: 3 },
    retriever: null,
  };
}

function newTurn(runId: string, change: Partial<NewTurn>): NewTurn {
  return {
    runId,
    itemId: 'item',
    userId: 'ann',
    arm: 'rag',
    repeat: 0,
    turn: 0,
    position: 0,
    sessionId: 's',
    promptInfo: { finalPrompt: 'User: hello' },
    timings: { total: 1.25 },
    tokens: { prompt: 3 },
    scores: { exactMatch: 1 },
    memories: [{ memoryId: 'm1', score: 0.5, rank: 0, kept: true }],
    kv: { blocks: 2 },
    answer: 'hello',
    error: null,
    ...change,
  };
}
