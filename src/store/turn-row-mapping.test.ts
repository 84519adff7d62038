import { beforeEach, describe, expect, it } from 'vitest';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../test/fixtures/turn-record.ts';
import type { AnsweredTurn } from './records/turn-record.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { TurnListRepository } from './turn-list-repository.ts';
import { TurnRepository } from './turn-repository.ts';

let database: BenchDatabase;
let list: TurnListRepository;
let runId: string;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  list = new TurnListRepository(database);
  runId = storeRun(database, { name: 'main', turns: [] }).id;
  return () => database.close();
});

describe('checks that a turn fails by itself', () => {
  const base = answeredTurn('dki', { injected: true });
  const put = (itemId: string, changes: Partial<AnsweredTurn>) =>
    new TurnRepository(database).put({ runId, sessionId: 's' }, { ...base, itemId, ...changes });
  const checksOf = (itemId: string) => list.outcomes(runId, [itemId])[0]!.failedChecks;
  const observed = (changes: Partial<AnsweredTurn['observed']>) => ({ observed: { ...base.observed, ...changes } });
  const none = { altered: [], missing: [], hidden: [], elsewhere: [] };
  const memories = { given: 1, shown: 1, ...none, own: 1, holdsGold: false };
  const seen = { sha256: 'a', asGenerated: true, shortfall: 0 };

  it.each([
    [{}, null],
    [observed({ firstForeignToken: 3 }), 'token identity'],
    [{ tokens: { ...base.tokens, evaluated: base.account.evaluated + 1 } }, 'token accounting'],
    [observed({ wrongCells: 'keys of layer 0' }), 'cells'],
    [observed({ parity: { bitwiseEqual: false, largestDifference: 1e-9 } }), 'numerical parity'],
    [observed({ answer: { ...seen, asGenerated: false } }), 'answers'],
    [observed({ answer: { ...seen, shortfall: 0.5 } }), 'answers'],
    [observed({ answer: seen, sameAgain: false }), 'answers'],
    [observed({ memories: { ...memories, foreign: ['m-9'] } }), 'same memories'],
    [observed({ memories: { ...memories, foreign: [], misplaced: ['m-2'] } }), 'same memories'],
    [observed({ memories: { ...memories, foreign: [], misplaced: [] }, answer: seen }), null],
    [observed({ firstForeignToken: 3, wrongCells: 'keys' }), 'token identity,cells'],
  ])('are named with it: %#', (changes, expected) => {
    put('one', changes);
    expect(checksOf('one')).toBe(expected);
  });

  it('are found by name, and counted', () => {
    put('foreign', observed({ firstForeignToken: 3, wrongCells: 'keys' }));
    put('cells', observed({ wrongCells: 'keys' }));
    new TurnRepository(database).put({ runId, sessionId: 's' }, failedTurn('dki', 'no', { itemId: 'failed' }));
    expect(list.items(runId, { check: 'cells' })).toEqual(['foreign', 'cells']);
    expect(list.items(runId, { check: 'token identity' })).toEqual(['foreign']);
    expect(Object.fromEntries(list.failedChecks(runId))).toEqual({ cells: 2, errors: 1, 'token identity': 1 });
  });
});
