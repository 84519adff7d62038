import { expect, test } from 'vitest';
import { turnRow } from '../../test/fixtures/turn-row.ts';
import { storeRun, type HandmadeTurn } from '../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../db/database.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { storedTurn, type StoredScores } from './stored-turn.ts';
import { readStoredTurns } from './stored-turns.ts';

const base = { userId: 'ann', arm: 'rag', right: true };

test('turns say what their rows say, whatever they share', () => {
  using database = openDatabase({ path: ':memory:' });
  const turns: HandmadeTurn[] = [
    { ...base, itemId: 'q1' },
    { ...base, itemId: 'q1', arm: 'dki' },
    { ...base, itemId: 'q1', arm: 'none', right: false, answer: 'null' },
    { ...base, itemId: 'q2', gold: null, answer: '{"prompt":1}', right: false },
    { ...base, itemId: 'q2', arm: 'dki', error: 'no cell left' },
    // Written behind another item: it shares nothing, and says the same.
    { ...base, itemId: 'q1', repeat: 1 },
  ];
  const run = storeRun(database, { name: 'r', turns });
  const rows = [...new TurnRepository(database).listByRun(run.id)].map((row) => storedTurn(row));
  const { answered, failed } = readStoredTurns(database, run.id);
  expect(answered).toEqual(rows.filter(({ state }) => state === 'answered'));
  expect(failed).toEqual(rows.filter(({ state }) => state === 'failed'));
  expect(answered[1]!.prompt).toBe(answered[0]!.prompt);
  expect(answered[1]!.item).toBe(answered[0]!.item);
});

test('how one repeat was recalled is not said of another', () => {
  using database = openDatabase({ path: ':memory:' });
  const run = storeRun(database, { name: 'r', turns: [] });
  const repository = new TurnRepository(database);
  const reasons = ['cold store away', 'hot store away'];
  reasons.forEach((reason, repeat) => {
    const { id: _, createdAt: __, ...row } = turnRow('rag');
    const retrieval = { strategy: 'tiered', timingsMs: {}, flags: [{ flag: 'degraded', reason }], details: {} };
    repository.insert({ ...row, runId: run.id, repeat, scores: { ...(row.scores as StoredScores), retrieval } });
  });
  const { answered } = readStoredTurns(database, run.id);
  expect(answered.map(({ retrieval }) => retrieval?.flags[0]?.reason)).toEqual(reasons);
});
