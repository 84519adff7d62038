import { afterAll, expect, test } from 'vitest';
import { newRun } from '../../../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../../../test/fixtures/turn-record.ts';
import { type BenchDatabase, openDatabase } from '../../../store/database.ts';
import { MemoryRepository } from '../../../store/memory-repository.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { SessionRepository } from '../../../store/session-and-message-repositories.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { readUserRows, writeUserRows } from '../../../store/transfer-user-rows.ts';
import { userBundle } from '../../../store/records/worker-result-bundle.ts';
import { makeBundle, packBundle, bundleRows, promptTokenIds, unpackBundle, type WorkerState } from './pack-results.ts';

const books = { spent: { warmUp: 0, turns: 1, scoring: 0, checks: 0, measure: 0 }, modelMs: 1, embedderMs: 0 };
const state: WorkerState = {
  share: { books: { ...books, evaluatedTokens: null }, counts: { refusedCalls: {}, kvStores: {}, retriever: {} } },
  load: { cores: 2, average: 0.5 },
};

/** With a user who has a memory, a turn that was answered and one that failed. */
const database = openDatabase({ path: ':memory:' });
afterAll(() => database.close());
const { id: runId } = new RunRepository(database).create(newRun({ name: 'r', turns: [] }));
const sessionId = `${runId}/u-1`;
new SessionRepository(database).getOrCreate(sessionId, { userId: 'u-1', runId });
const embedding = new Float32Array([Math.fround(0.1), -0, 1e-40]);
new MemoryRepository(database, runId).create({
  id: 'm',
  sessionId,
  userId: 'u-1',
  content: '我喜欢茶\u0000',
  embedding,
});
for (const turn of [answeredTurn('rag'), failedTurn('dki', 'no answer')])
  new TurnRepository(database).put({ runId, sessionId }, turn);
const rows = readUserRows(database, { runId, userId: 'u-1' });

test('a user comes out of a bundle as they went in, under another run', async () => {
  const bundle = makeBundle('u-1', rows, new Map([[7, ' tea']]), state);
  const { content, turns } = await packBundle(bundle);
  expect(turns).toBe(2);
  const read = await unpackBundle(userBundle, content, 'user u-1');
  expect(read).toEqual(JSON.parse(JSON.stringify(bundle)));

  using target = openDatabase({ path: ':memory:' });
  const { id } = new RunRepository(target).create(newRun({ name: 'merged', turns: [] }));
  writeUserRows(target, { runId: id, userId: 'u-1', position: 0, worker: 'w' }, bundleRows(read));
  expect(readUserRows(target, { runId: id, userId: 'u-1' })).toEqual(rows);
  expect(new MemoryRepository(target, id).getByUser('u-1')).toMatchObject([{ id: 'm', content: '我喜欢茶\u0000' }]);
  const turnsIn = (one: BenchDatabase, run: string) => [...new TurnRepository(one).listByRun(run)];
  expect(turnsIn(target, id)).toEqual(turnsIn(database, runId));
});

test('refuses content that is not a bundle, and names the user', async () => {
  const { content } = await packBundle({ isolation: null, ...state });
  await expect(unpackBundle(userBundle, content, 'user ann')).rejects.toThrow(
    /^the results of user ann cannot be read: /,
  );
});

test('the tokens of a user are those of all prompts', () => {
  const { prompt } = answeredTurn('rag');
  expect(promptTokenIds(rows)).toEqual(new Set(prompt.segments.flatMap(({ tokenIds }) => [...tokenIds])));
});
