import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../test/fixtures/stored-runs.ts';
import { failedTurn } from '../../test/fixtures/turn-record.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { TurnListRepository } from './turn-list-repository.ts';
import { TurnRepository } from './turn-repository.ts';

const turn = (itemId: string, arm: string, right: boolean, more: Partial<HandmadeTurn> = {}): HandmadeTurn => {
  return { itemId, userId: `user of ${itemId}`, arm, right, ...more };
};

let database: BenchDatabase;
let list: TurnListRepository;
let runId: string;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  list = new TurnListRepository(database);
  storeRun(database, { name: 'other', turns: [turn('i-1', 'rag', true)] });
  runId = storeRun(database, {
    name: 'main',
    turns: [
      turn('i-1', 'rag', true, { firstTokenMs: 30 }),
      turn('i-1', 'dki', false, { firstTokenMs: 10, answer: '100% of_it\\' }),
      turn('i-2', 'rag', true, { firstTokenMs: 20 }),
      turn('i-2', 'dki', true, { firstTokenMs: 20 }),
      turn('i-3', 'rag', false, { gold: null, firstTokenMs: 5 }),
    ],
  }).id;
  const failed = failedTurn('dki', 'out of memory', { itemId: 'i-3', userId: 'user of i-3', position: 1 });
  new TurnRepository(database).put({ runId, sessionId: 's' }, failed);
  return () => database.close();
});

describe('the list of turns', () => {
  it('filters by every field', () => {
    expect(list.items(runId, { arm: 'dki' })).toEqual(['i-1', 'i-2', 'i-3']);
    expect(list.items(runId, { answer: 'right' })).toEqual(['i-1', 'i-2']);
    expect(list.items(runId, { answer: 'wrong' })).toEqual(['i-1', 'i-3']);
    expect(list.items(runId, { disagreeing: true })).toEqual(['i-1']);
    expect(list.items(runId, { failed: true })).toEqual(['i-3']);
    expect(list.items(runId, { category: 'updated', arm: 'rag' })).toEqual(['i-1', 'i-2', 'i-3']);
    expect(list.items(runId, { truncated: true })).toEqual([]);
  });

  it('searches question and answer literally, without wildcards', () => {
    const found = (text: string) => list.items(runId, { text });
    expect([found('100%'), found('of_it\\'), found('%')]).toEqual([['i-1'], ['i-1'], ['i-1']]);
    expect([found('1%t'), found("' OR 1"), found('DOES MY SISTER').length]).toEqual([[], [], 3]);
  });

  it('lists arms, categories and items', () => {
    expect([list.distinct(runId, 'arm'), list.distinct(runId, 'category')]).toEqual([['dki', 'rag'], ['updated']]);
    expect(list.items(runId)).toEqual(['i-1', 'i-2', 'i-3']);
  });

  it('loses the items of a user whose turns are deleted', () => {
    new TurnRepository(database).deleteUser(runId, 'user of i-1');
    expect(list.items(runId)).toEqual(['i-2', 'i-3']);
  });
});

describe('items with a turn that matches', () => {
  let runId: string;
  beforeEach(() => {
    const turns = [
      ...[turn('i-2', 'rag', true), turn('i-2', 'dki', false)],
      ...[turn('i-1', 'rag', true), turn('i-1', 'dki', true)],
      ...[turn('i-3', 'rag', false), turn('i-3', 'dki', true)],
      ...[turn('i-4', 'rag', true), turn('i-4', 'rag', false, { repeat: 1 }), turn('i-4', 'dki', false)],
    ];
    runId = storeRun(database, { name: 'items', turns }).id;
  });

  it('are those that one arm answers wrong and another right, in every repeat, in the order of writing', () => {
    expect(list.items(runId, {})).toEqual(['i-2', 'i-1', 'i-3', 'i-4']);
    expect(list.items('nothing', {})).toEqual([]);
    expect(list.items(runId, { wrong: 'dki', right: 'rag' })).toEqual(['i-2']);
    expect(list.items(runId, { wrong: 'rag', right: 'dki' })).toEqual(['i-3']);
    expect(list.items(runId, { wrong: 'rag' })).toEqual(['i-3', 'i-4']);
  });

  it('match all conditions with one turn', () => {
    database.query.run(sql`UPDATE turns SET wrong_class = 'superseded', failed_stage = 'answered', cache = 'hit'
      WHERE run_id = ${runId} AND item_id = 'i-2' AND arm = 'dki'`);
    database.query.run(sql`UPDATE turns SET cache = 'miss' WHERE run_id = ${runId} AND item_id = 'i-1'`);
    expect(list.items(runId, { wrongClass: 'superseded' })).toEqual(['i-2']);
    expect(list.items(runId, { stage: 'answered', arm: 'rag' })).toEqual([]);
    expect(list.items(runId, { cache: 'miss' })).toEqual(['i-1']);
    expect(list.items(runId, { cache: 'miss', wrongClass: 'superseded' })).toEqual([]);
  });

  it('come with the outcomes of all their arms', () => {
    const found = list.outcomes(runId, ['i-4', 'i-1']);
    const outcomes = found.map(({ itemId, arm, repeat, taskSuccess }) => [itemId, arm, repeat, taskSuccess].join(' '));
    expect(outcomes).toEqual(['i-1 rag 0 1', 'i-1 dki 0 1', 'i-4 rag 0 1', 'i-4 rag 1 0', 'i-4 dki 0 0']);
    expect(found[0]).toMatchObject({ gold: 'Turin', answer: ' Turin', cache: 'bypass', failedChecks: null });
  });
});
