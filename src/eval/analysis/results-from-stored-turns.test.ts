import { expect, test } from 'vitest';
import { type HandmadeTurn, storeRun, turnOf } from '../../../test/fixtures/stored-runs.ts';
import { changedTurn } from '../../../test/fixtures/check-input.ts';
import { openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { readStoredTurns } from './results-from-stored-turns.ts';

test('turns say what their records say, whatever they share', () => {
  using database = openDatabase({ path: ':memory:' });
  const turns: HandmadeTurn[] = [
    { itemId: 'q1', userId: 'ann', arm: 'rag', right: true },
    { itemId: 'q1', userId: 'ann', arm: 'dki', right: true },
    { itemId: 'q1', userId: 'ann', arm: 'none', right: false, answer: 'null' },
    { itemId: 'q2', userId: 'ann', arm: 'rag', right: false, gold: null, answer: '{"prompt":1}' },
    { itemId: 'q2', userId: 'ann', arm: 'dki', right: true, error: 'no cell left' },
    // Written behind another item: it shares nothing, and says the same.
    { itemId: 'q1', userId: 'ann', arm: 'rag', right: true, repeat: 1 },
  ];
  const run = storeRun(database, { name: 'r', turns });
  const stored = [...new TurnRepository(database).listByRun(run.id)];
  // The order of arms within an item is the fixture's.
  const records = turns.map((turn, index) => ({ ...turnOf(turn), position: stored[index]!.position }));
  const { answered, failed } = readStoredTurns(database, run.id);
  expect(failed).toEqual(records.filter(({ state }) => state === 'failed'));
  expect(answered).toEqual(
    records.flatMap((turn) => {
      if (turn.state === 'failed') return [];
      const { prompt: _prompt, given, answer, observed, ...rest } = turn;
      const { nextTokens: _next, goldTokens, ...measured } = observed;
      const seen = { ...measured, goldTokens: { length: goldTokens.length } };
      return [{ ...rest, given: { retrieval: given.retrieval }, answer: { text: answer.text }, observed: seen }];
    }),
  );
});

test('how one repeat was retrieved is not said of another', () => {
  using database = openDatabase({ path: ':memory:' });
  const run = storeRun(database, { name: 'r', turns: [] });
  const repository = new TurnRepository(database);
  const reasons = ['cold store away', 'hot store away'];
  const timingsMs = { embedding: 1, search: 1, ranking: 1 };
  reasons.forEach((reason, repeat) => {
    const flags = [{ flag: 'degraded', reason }] as const;
    const retrieval = { strategy: 'tiered', timingsMs, flags, details: {} };
    repository.put({ runId: run.id, sessionId: 's' }, changedTurn('rag', { given: { retrieval } }, { repeat }));
  });
  const { answered } = readStoredTurns(database, run.id);
  expect(answered.map(({ given }) => given.retrieval?.flags[0]?.reason)).toEqual(reasons);
});
