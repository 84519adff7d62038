import { getTableColumns, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../test/fixtures/stored-runs.ts';
import { failedTurn } from '../../test/fixtures/turn-record.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { turns } from './schema.ts';
import { mostCounted, type TurnListOrder, TurnListRepository } from './turn-list-repository.ts';
import { TurnRepository } from './turn-repository.ts';

const turn = (itemId: string, arm: string, right: boolean, more: Partial<HandmadeTurn> = {}): HandmadeTurn => ({
  ...{ itemId, userId: `user of ${itemId}`, arm, right },
  ...more,
});

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

const found = (filter: Parameters<typeof list.page>[1], order: TurnListOrder = {}): string[] =>
  list.page(runId, filter, order, {}, 50).rows.map(({ itemId, arm }) => `${itemId} ${arm}`);

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
    expect(found({}, { sort: 'firstTokenMs', descending: true })).toEqual([
      ...['i-1 rag', 'i-2 rag', 'i-2 dki', 'i-1 dki', 'i-3 rag', 'i-3 dki'],
    ]);
  });

  it.each([
    {},
    { sort: 'firstTokenMs' },
    { sort: 'firstTokenMs', descending: true },
    { sort: 'goldLogProbability' },
  ] as const)('is turned over page by page, forwards and backwards, by %o', (order) => {
    const all = list.page(runId, {}, order, {}, 50).rows.map(({ turnId }) => turnId);
    const forwards: number[] = [];
    for (let after: number | undefined; ; after = forwards.at(-1)) {
      const page = list.page(runId, {}, order, { after }, 2);
      expect([page.matching, page.hasPrevious]).toEqual([6, forwards.length > 0]);
      forwards.push(...page.rows.map(({ turnId }) => turnId));
      if (!page.hasNext) break;
    }
    expect(forwards).toEqual(all);
    const before = list.page(runId, {}, order, { before: all[4] }, 2);
    expect(before.rows.map(({ turnId }) => turnId)).toEqual(all.slice(2, 4));
    expect([before.hasPrevious, before.hasNext]).toEqual([true, true]);
    expect(list.page(runId, {}, order, { before: all[2] }, 2).hasPrevious).toBe(false);
  });

  it('begins at the beginning behind a turn of another run', () => {
    const page = list.page(runId, {}, {}, { after: 1 }, 2);
    expect([page.rows[0]?.itemId, page.hasPrevious]).toEqual(['i-1', false]);
  });

  it('counts what matches, but for texts, where only the last page knows', () => {
    const matching = (filter: Parameters<typeof list.page>[1], size: number) =>
      list.page(runId, filter, {}, {}, size).matching;
    expect([matching({}, 2), matching({ arm: 'rag' }, 2), matching({ arm: 'nobody' }, 2)]).toEqual([6, 3, 0]);
    expect([matching({ text: 'sister' }, 2), matching({ text: 'sister' }, 50)]).toEqual([undefined, 5]);
  });

  it('ends a count where more turns match than anybody turns over', () => {
    const copies = sql`WITH RECURSIVE copies(copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies LIMIT ${mostCounted})`;
    const columns = Object.values(getTableColumns(turns)).map(({ name }) => name);
    const values = columns.map((name) => (name === 'id' ? '1000 + copy' : name === 'repeat' ? 'copy' : name));
    database.query.run(sql`${copies} INSERT INTO turns SELECT ${sql.raw(values.join(', '))} FROM copies, turns
      WHERE run_id = ${runId} AND arm = 'rag' AND item_id = 'i-3'`);
    expect(list.page(runId, {}, {}, {}, 50).matching).toBe(6 + mostCounted);
    expect(list.page(runId, { answer: 'wrong' }, {}, {}, 50).matching).toBe('many');
    expect(list.page(runId, { answer: 'right' }, {}, {}, 2).matching).toBe(3);
  });

  it('asks the other turns of an item for the question of a failed one', () => {
    const [failed] = list.page(runId, { failed: true }, {}, {}, 1).rows;
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
