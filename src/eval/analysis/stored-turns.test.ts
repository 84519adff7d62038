import { expect, test } from 'vitest';
import { type HandmadeTurn, storeRun, turnOf } from '../../../test/fixtures/stored-runs.ts';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import { openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { RetrievalRecord } from '../../store/records/turn-record.ts';
import { readStoredTurns } from './stored-results.ts';

const base = { userId: 'ann', arm: 'rag', right: true };

test('turns say what their records say, whatever they share', () => {
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
  reasons.forEach((reason, repeat) => {
    const timingsMs = { embedding: 1, search: 1, ranking: 1 };
    const flags = [{ flag: 'degraded', reason }] as const;
    const retrieval: RetrievalRecord = { strategy: 'tiered', timingsMs, flags, details: {} };
    const changes = { repeat, given: { retrieved: [], retrieval } };
    repository.put({ runId: run.id, sessionId: 's' }, answeredTurn('rag', { changes }));
  });
  const { answered } = readStoredTurns(database, run.id);
  expect(answered.map(({ given }) => given.retrieval?.flags[0]?.reason)).toEqual(reasons);
});
