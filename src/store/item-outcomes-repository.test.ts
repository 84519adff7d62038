import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../test/fixtures/turn-record.ts';
import type { AnsweredTurn } from './records/turn-record.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { ItemOutcomesRepository } from './item-outcomes-repository.ts';
import { turns } from './schema.ts';
import { TurnRepository } from './turn-repository.ts';

const turn = (itemId: string, arm: string, right: boolean, more: Partial<HandmadeTurn> = {}): HandmadeTurn => ({
  ...{ itemId, userId: 'ann', arm, right },
  ...more,
});

let database: BenchDatabase;
let items: ItemOutcomesRepository;
let runId: string;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  items = new ItemOutcomesRepository(database);
  storeRun(database, { name: 'other', turns: [turn('i-1', 'dki', true)] });
  runId = storeRun(database, {
    name: 'main',
    turns: [
      ...[turn('i-2', 'rag', true), turn('i-2', 'dki', false)],
      ...[turn('i-1', 'rag', true), turn('i-1', 'dki', true)],
      ...[turn('i-3', 'rag', false), turn('i-3', 'dki', true)],
      ...[turn('i-4', 'rag', true), turn('i-4', 'rag', false, { repeat: 1 }), turn('i-4', 'dki', false)],
    ],
  }).id;
  return () => database.close();
});

describe('items of which a turn matches', () => {
  it('stand in the order of writing', () => {
    expect(items.items(runId, {})).toEqual(['i-2', 'i-1', 'i-3', 'i-4']);
    expect(items.items('nothing', {})).toEqual([]);
  });

  it('are those that one arm answers wrong and another right, in every repeat', () => {
    expect(items.items(runId, { wrong: 'dki', right: 'rag' })).toEqual(['i-2']);
    expect(items.items(runId, { wrong: 'rag', right: 'dki' })).toEqual(['i-3']);
    expect(items.items(runId, { wrong: 'rag' })).toEqual(['i-3', 'i-4']);
  });

  it('are those of which one turn has all that is asked for', () => {
    database.query.run(sql`UPDATE turns SET wrong_class = 'stale', failed_stage = 'answered', cache = 'hit'
      WHERE run_id = ${runId} AND item_id = 'i-2' AND arm = 'dki'`);
    database.query.run(sql`UPDATE turns SET cache = 'miss' WHERE run_id = ${runId} AND item_id = 'i-1'`);
    expect(items.items(runId, { wrongClass: 'stale' })).toEqual(['i-2']);
    expect(items.items(runId, { stage: 'answered', arm: 'rag' })).toEqual([]);
    expect(items.items(runId, { cache: 'miss' })).toEqual(['i-1']);
    expect(items.items(runId, { cache: 'miss', wrongClass: 'stale' })).toEqual([]);
  });

  it('come with the outcomes of all their arms', () => {
    const found = items.outcomes(runId, ['i-4', 'i-1']);
    expect(found.map(({ itemId, arm, repeat, taskSuccess }) => [itemId, arm, repeat, taskSuccess])).toEqual([
      ...[
        ['i-1', 'rag', 0, 1],
        ['i-1', 'dki', 0, 1],
        ['i-4', 'rag', 0, 1],
        ['i-4', 'rag', 1, 0],
        ['i-4', 'dki', 0, 0],
      ],
    ]);
    expect(found[0]).toMatchObject({ gold: 'Turin', answer: ' Turin', cache: 'bypass', failedChecks: null });
  });
});

describe('checks that a turn fails by itself', () => {
  const base = answeredTurn('dki', { injected: true });
  const put = (itemId: string, changes: Partial<AnsweredTurn>) =>
    new TurnRepository(database).put({ runId, sessionId: 's' }, { ...base, itemId, ...changes });
  const checksOf = (itemId: string) =>
    database.query
      .select({ checks: turns.failedChecks })
      .from(turns)
      .where(sql`run_id = ${runId} AND item_id = ${itemId}`)
      .get()?.checks;
  const observed = (changes: Partial<AnsweredTurn['observed']>) => ({ observed: { ...base.observed, ...changes } });
  const memories = { ...{ given: 1, shown: 1, altered: [], missing: [], hidden: [], elsewhere: [] }, own: 1 };
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
    [observed({ memories: { ...memories, foreign: ['m-9'], holdsGold: false } }), 'same memories'],
    [observed({ memories: { ...memories, foreign: [], holdsGold: false }, answer: seen }), null],
    [observed({ firstForeignToken: 3, wrongCells: 'keys' }), 'token identity,cells'],
  ])('are named with it: %#', (changes, expected) => {
    put('one', changes);
    expect(checksOf('one')).toBe(expected);
  });

  it('are found by name, and counted', () => {
    put('foreign', observed({ firstForeignToken: 3, wrongCells: 'keys' }));
    put('cells', observed({ wrongCells: 'keys' }));
    new TurnRepository(database).put({ runId, sessionId: 's' }, failedTurn('dki', 'no', { itemId: 'failed' }));
    expect(items.items(runId, { check: 'cells' })).toEqual(['foreign', 'cells']);
    expect(items.items(runId, { check: 'token identity' })).toEqual(['foreign']);
    expect([...items.failedChecks(runId)].sort()).toEqual([
      ...[
        ['cells', 2],
        ['errors', 1],
        ['token identity', 1],
      ],
    ]);
  });
});
