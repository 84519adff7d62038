import { getTableColumns, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../test/fixtures/stored-runs.ts';
import { failedTurn } from '../../test/fixtures/turn-record.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { turns } from './schema.ts';
import { mostCounted, type TurnListFilter, type TurnsQuery, TurnListRepository } from './turn-list-repository.ts';
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

const found = (filter: TurnListFilter, order: Partial<TurnsQuery> = {}): string[] =>
  list.page(runId, { filter, ...order, size: 50 }).rows.map(({ itemId, arm }) => `${itemId} ${arm}`);

describe('the list of turns', () => {
  it('filters by every mark', () => {
    expect(found({ arm: 'dki' })).toEqual(['i-1 dki', 'i-2 dki', 'i-3 dki']);
    expect(found({ answer: 'right' })).toEqual(['i-1 rag', 'i-2 rag', 'i-2 dki']);
    expect(found({ answer: 'wrong' })).toEqual(['i-1 dki', 'i-3 rag']);
    expect(found({ disagreeing: true })).toEqual(['i-1 rag', 'i-1 dki']);
    expect(found({ failed: true })).toEqual(['i-3 dki']);
    expect(found({ category: 'updated', arm: 'rag' })).toEqual(['i-1 rag', 'i-2 rag', 'i-3 rag']);
    expect(found({ truncated: true })).toEqual([]);
  });

  it('finds a part of question or answer as it stands, with no wildcards', () => {
    expect(found({ text: '100%' })).toEqual(['i-1 dki']);
    expect(found({ text: 'of_it\\' })).toEqual(['i-1 dki']);
    expect([found({ text: '1%t' }), found({ text: '%' }).length, found({ text: "' OR 1" })]).toEqual([[], 1, []]);
    expect(found({ text: 'DOES MY SISTER' })).toHaveLength(5);
  });

  it('sorts by any number, ties in the order of the run, and turns without it last in both directions', () => {
    const byTime = ['i-3 rag', 'i-1 dki', 'i-2 rag', 'i-2 dki', 'i-1 rag', 'i-3 dki'];
    expect(found({}, { sort: 'firstTokenMs' })).toEqual(byTime);
    const descending = ['i-1 rag', 'i-2 rag', 'i-2 dki', 'i-1 dki', 'i-3 rag', 'i-3 dki'];
    expect(found({}, { sort: 'firstTokenMs', descending: true })).toEqual(descending);
  });

  const byTime = { sort: 'firstTokenMs' } as const;
  it.each([{}, byTime, { ...byTime, descending: true as const }, { sort: 'goldLogProbability' as const }])(
    'is turned over page by page, by %o',
    (order) => {
      const all = list.page(runId, { ...order, size: 50 }).rows.map(({ turnId }) => turnId);
      const pages = [1, 2, 3].map((page) => list.page(runId, { ...order, page, size: 2 }));
      expect(pages.flatMap(({ rows }) => rows.map(({ turnId }) => turnId))).toEqual(all);
      expect(pages.map(({ matching, hasNext }) => [matching, hasNext])).toEqual([[6, true], [6, true], [6, false]]); // prettier-ignore
      expect(list.page(runId, { ...order, page: 4, size: 2 })).toEqual({ rows: [], hasNext: false, matching: 6 });
    },
  );

  it('counts what matches, but for texts, where only the last page knows', () => {
    const matching = (filter: TurnListFilter, size: number) => list.page(runId, { filter, size }).matching;
    expect([matching({}, 2), matching({ arm: 'rag' }, 2), matching({ arm: 'unknown' }, 2)]).toEqual([6, 3, 0]);
    expect([matching({ text: 'sister' }, 2), matching({ text: 'sister' }, 50)]).toEqual([undefined, 5]);
  });

  it('ends a count at 10,000 turns', () => {
    const copies = sql`WITH RECURSIVE copies(copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies LIMIT ${mostCounted})`;
    const columns = Object.values(getTableColumns(turns)).map(({ name }) => name);
    const values = columns.map((name) => (name === 'id' ? '1000 + copy' : name === 'repeat' ? 'copy' : name));
    database.query.run(sql`${copies} INSERT INTO turns SELECT ${sql.raw(values.join(', '))} FROM copies, turns
      WHERE run_id = ${runId} AND arm = 'rag' AND item_id = 'i-3'`);
    expect(list.page(runId, { size: 50 }).matching).toBe(6 + mostCounted);
    expect(list.page(runId, { filter: { answer: 'wrong' }, size: 50 }).matching).toBe('many');
    expect(list.page(runId, { filter: { answer: 'right' }, size: 2 }).matching).toBe(3);
  });

  it('takes the question of a failed turn from another turn of the same item', () => {
    const [failed] = list.page(runId, { filter: { failed: true }, size: 1 }).rows;
    expect([failed?.question, failed?.error]).toEqual(['Where does my sister live?', 'out of memory']);
  });

  it('knows arms, categories and items', () => {
    expect([list.arms(runId), list.categories(runId)]).toEqual([['dki', 'rag'], ['updated']]);
    expect(list.items(runId)).toEqual(['i-1', 'i-2', 'i-3']);
  });

  it('goes with the turns of a user', () => {
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

  it('must match with one turn', () => {
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
