import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../../test/fixtures/stored-runs.ts';
import { failedTurn } from '../../../test/fixtures/turn-record.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { type BenchDatabase, openDatabase } from '../database.ts';
import { ItemOutcomesRepository } from '../item-outcomes-repository.ts';
import { ItemPairRepository } from '../item-pair-repository.ts';
import type { ItemPairScores } from '../item-pair-scores.ts';
import { turnIndexParts } from '../schema.ts';
import type { TurnListFilter } from '../turn-list-filter.ts';
import { type TurnListOrder, turnSorts, type TurnSort } from '../turn-list-order.ts';
import { TurnListRepository } from '../turn-list-repository.ts';
import { TurnRepository } from '../turn-repository.ts';
import { TurnIndexRepository } from './turn-index-repository.ts';

const arms = ['rag', 'dki', 'dki-blocks'];
const places = ['Turin', 'Łódź', 'ÉVORA', '100%_\\', 'turin east'];
const items = 12;

let database: BenchDatabase;
let runId: string;
let random: SeededRandom;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  random = new SeededRandom(7);
  storeRun(database, { name: 'other', turns: [{ itemId: 'i-0', userId: 'u', arm: 'rag', right: true }] });
  // As a run writes them: each repeat asks all items.
  const turns = [0, 1, 2].flatMap((repeat) =>
    Array.from({ length: items }, (_, item) => item).flatMap((item) =>
      arms.map((arm): HandmadeTurn => ({
        ...{ itemId: `i-${item}`, userId: `u-${item % 3}`, arm, repeat, right: random.chance(0.6) },
        gold: item === 5 ? null : random.pick(places),
        answer: random.pick(places),
        firstTokenMs: random.int(1, 4),
      })),
    ),
  );
  runId = storeRun(database, { name: 'main', turns }).id;
  const failed = failedTurn('rag', 'out of memory', { itemId: 'i-3', userId: 'u-0', repeat: 3 });
  new TurnRepository(database).insert({ runId, sessionId: 's' }, failed);
  const marks = [
    'wrong_class',
    'failed_stage',
    'cache',
    'category',
    'failed_checks',
    'evidence_rank',
    'token_f1',
    'task_success',
  ];
  const values = [
    ["'stale'", "'other'", 'NULL'],
    ["'answered'", 'NULL'],
    ["'hit'", "'miss'", 'NULL'],
    ["'plain'", "'updated'", 'NULL'],
    ["'cells'", "'cells,answers'", 'NULL'],
    ['1', '2', 'NULL'],
    ['0.5', '1', '0', 'NULL'],
    ['0.1', '0.2', '0.3', '1', '1', '1', 'NULL'],
  ];
  for (const { turnId } of new TurnListRepository(database).rows(runId)) {
    const set = marks.map((mark, index) => `${mark} = ${random.pick(values[index]!)}`).join(', ');
    const truncated = `truncated = ${random.int(0, 1)}`;
    database.query.run(sql.raw(`UPDATE turn_list SET ${set}, ${truncated} WHERE turn_id = ${turnId}`));
  }
  // An arm that has no value on an item, and two whose means are equal only if nothing is lost in their sums.
  const set = (value: string, arm: string, item: string): string =>
    `UPDATE turn_list SET task_success = ${value} WHERE run_id = '${runId}' AND arm = '${arm}' AND item_id = '${item}'`;
  database.query.run(sql.raw(set('NULL', 'dki', 'i-2')));
  database.query.run(sql.raw(set('(repeat + 1) / 10.0', 'rag', 'i-4')));
  database.query.run(sql.raw(set('(3 - repeat) / 10.0', 'dki', 'i-4')));
  return () => database.close();
});

const make = (): void => new TurnIndexRepository(database).make(runId, 0);
const parts = (): number => database.query.select().from(turnIndexParts).all().length;

function drawFilter(): TurnListFilter {
  const some = <Value>(value: () => Value, share = 0.25): Value | undefined =>
    random.chance(share) ? value() : undefined;
  return {
    arm: some(() => random.pick(arms)),
    answer: some(() => random.pick(['right', 'wrong'] as const)),
    wrong: some(() => random.pick(arms)),
    right: some(() => random.pick(arms)),
    disagreeing: some(() => true as const, 0.1),
    category: some(() => random.pick(['plain', 'updated', 'none'])),
    wrongClass: some(() => random.pick(['stale', 'other'])),
    stage: some(() => 'answered', 0.1),
    cache: some(() => random.pick(['hit', 'miss']), 0.1),
    check: some(() => random.pick(['cells', 'answers', 'cell']), 0.1),
    truncated: some(() => true as const, 0.1),
    failed: some(() => true as const, 0.05),
    text: some(() => random.pick(['turin', 'TURIN E', 'évora', 'ÉV', '%_', 'ł', 'sister', 'stin'])),
  };
}

describe('the index of a run', () => {
  it('gives the pages, counts and items that a walk over the rows gives', () => {
    const list = new TurnListRepository(database);
    const outcomes = new ItemOutcomesRepository(database);
    const ids = [...list.rows(runId)].map(({ turnId }) => turnId);
    const asked = Array.from({ length: 300 }, () => {
      const sort = random.chance(0.7) ? random.pick(Object.keys(turnSorts) as TurnSort[]) : undefined;
      const order: TurnListOrder = random.chance(0.5) ? { sort, descending: true } : { sort };
      const near = random.pick([{}, { after: random.pick(ids) }, { before: random.pick(ids) }, { after: 1 }]);
      return { filter: drawFilter(), order, near, size: random.int(1, 20) };
    });
    const answers = () =>
      asked.map(({ filter, order, near, size }) => {
        const { matching, ...page } = list.page(runId, filter, order, near, size);
        const found = outcomes.items(runId, filter);
        return { ...page, matching, items: found.slice(0, found.length), checks: outcomes.failedChecks(runId) };
      });
    const walked = answers();
    make();
    const indexed = answers();
    // Otherwise nothing was compared.
    expect(walked.filter(({ rows }) => rows.length > 0).length).toBeGreaterThan(100);
    expect(indexed.map(({ matching: _, ...page }) => page)).toEqual(walked.map(({ matching: _, ...page }) => page));
    for (const [place, { matching }] of walked.entries()) {
      if (matching !== undefined) expect(indexed[place]!.matching).toBe(matching);
    }
    const { rows, matching } = list.page(runId, { text: 'turin' }, {}, {}, 500);
    expect(list.page(runId, { text: 'turin' }, {}, {}, 1).matching).toBe(rows.length);
    expect(matching).toBe(rows.length);
  });

  it('pairs two arms of a run, or of two runs, as a join does', () => {
    const turns = Array.from({ length: items }, (_, item) => items - item).flatMap((item) =>
      arms.map((arm): HandmadeTurn => {
        const answer = random.pick(['Turin', 'turin', 'Łódź']);
        return { itemId: `i-${item}`, userId: `u-${item % 3}`, arm, answer, right: random.chance(0.5) };
      }),
    );
    const again = storeRun(database, { name: 'again', turns }).id;
    database.query.run(sql`UPDATE turn_list SET task_success = NULL WHERE item_id IN ('i-2', 'i-3') AND arm = 'dki'`);
    const pairs = new ItemPairRepository(database);
    const sides = [runId, again].flatMap((run) => arms.map((arm) => ({ runId: run, arm })));
    const all = () => sides.flatMap((a) => sides.filter((b) => a !== b).map((b) => pairs.scores(a, b)));
    const joined = all();
    make();
    new TurnIndexRepository(database).make(again, 0);
    const near = (values: Float64Array) => Array.from(values, (value) => Math.round(1e12 * value));
    const byUser = ({ userIds, userOf, successA, successB, ...others }: ItemPairScores) => {
      const signs = successA.map((a, pair) => Math.sign(a - successB[pair]!));
      return {
        ...others,
        signs,
        users: Array.from(userOf, (user) => userIds[user]),
        a: near(successA),
        b: near(successB),
      };
    };
    expect(all().map(byUser)).toEqual(joined.map(byUser));
    expect(new Set(joined.flatMap(({ marks }) => [...marks])).size).toBeGreaterThan(5);
  });

  it('is gone when a turn of the run is written, changed or deleted', () => {
    const index = () => new TurnIndexRepository(database).find(runId);
    expect(index()).toBeUndefined();
    make();
    expect(index()).toBeDefined();
    expect(index()).toBe(index());
    database.query.run(sql`UPDATE turn_list SET truncated = 0 WHERE turn_id = (SELECT max(turn_id) FROM turn_list)`);
    expect([index(), parts()]).toEqual([undefined, 0]);
    make();
    new TurnRepository(database).deleteUser(runId, 'u-1');
    expect([index(), parts()]).toEqual([undefined, 0]);
    make();
    const failed = failedTurn('dki', 'no', { itemId: 'i-3', userId: 'u-0', repeat: 3 });
    new TurnRepository(database).insert({ runId, sessionId: 's' }, failed);
    expect([index(), parts()]).toEqual([undefined, 0]);
    make();
    expect(new TurnListRepository(database).page(runId, { failed: true }, {}, {}, 5).matching).toBe(2);
  });

  it('is not stored where another process changes the run while it is made', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dki-bench-index-'));
    try {
      const path = join(folder, 'bench.sqlite');
      using other = openDatabase({ path });
      const turns = [1, 2].map((item) => ({ itemId: `i-${item}`, userId: 'u', arm: 'rag', right: true }));
      const { id } = storeRun(other, { name: 'main', turns });
      let changes = 0;
      const change = (statement: string): void => {
        // The reading of all rows.
        if (!/^select.*"first_token_ms".*order by/.test(statement)) return;
        changes += other.query.run(sql`UPDATE turn_list SET truncated = 1`).changes;
      };
      using making = openDatabase({ path, echo: change });
      const indexes = new TurnIndexRepository(making);
      indexes.make(id, 0);
      expect([changes, indexes.find(id)]).toEqual([2, undefined]);
      using undisturbed = openDatabase({ path });
      new TurnIndexRepository(undisturbed).make(id, 0);
      expect(indexes.find(id)).toBeDefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is made of long runs alone', () => {
    new TurnIndexRepository(database).make(runId);
    new TurnIndexRepository(database).make('nothing', 0);
    expect(parts()).toBe(0);
  });
});
