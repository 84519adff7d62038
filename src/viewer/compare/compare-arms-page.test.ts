import { beforeEach, describe, expect, it } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../../test/fixtures/stored-runs.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import { ArmComparisonRepository, type ArmOfRun } from '../../store/arm-comparison-repository.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { compareStoredRuns } from '../../eval/analysis/compare/compare-runs.ts';
import { pageOf } from '../list-components.ts';
import { pairItems } from './compare-arms-page.ts';

const judged = true;

let database: BenchDatabase;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  return () => database.close();
});

/** Twelve items of four users in three repeats, of which some turn out right. */
function stored(name: string, arms: readonly string[], isRight: (index: number, repeat: number) => boolean): RunRecord {
  const turns = arms.flatMap((arm) =>
    Array.from({ length: 36 }, (_, number): HandmadeTurn => {
      const [index, repeat] = [number % 12, Math.floor(number / 12)];
      const gold = index === 4 ? null : 'Turin';
      return { itemId: `i-${index}`, userId: `u-${index % 4}`, arm, repeat, gold, right: isRight(index, repeat) };
    }),
  );
  return storeRun(database, { name, turns });
}

const details = ({ listed }: ReturnType<typeof pairItems>, page: number, size: number) =>
  new ArmComparisonRepository(database).details(pageOf(listed, size, page).shown);

const ids = (...of: Parameters<typeof details>): string[] => details(...of).map(({ itemId }) => itemId);

describe('arms paired by item', () => {
  it('give the difference that the comparison of two runs gives', () => {
    const a = stored('a', ['rag'], (index, repeat) => (index + repeat) % 3 !== 0);
    const b = stored('b', ['rag'], (index, repeat) => index % 3 === 0 || repeat === 2);
    const { differences, flips } = compareStoredRuns(database, { a, b }, { force: false, seed: 7, margin: 2 });
    const { meanA, meanB, delta, low, high, n, users } = differences.find(({ metric }) => metric === 'taskSuccess')!;
    const paired = pairItems(database, { runId: a.id, arm: 'rag' }, { runId: b.id, arm: 'rag' }, judged);
    // Rows come in another order, and sums of them differ in their last bits.
    const near = (value: number): unknown => expect.closeTo(value, 12);
    const interval = { low: near(low), high: near(high) };
    const means = { meanA: near(meanA), meanB: near(meanB), delta: near(delta) };
    expect(paired.difference).toEqual({ ...means, interval, n, users });
    expect(delta).not.toBe(0);
    expect(paired.counts).toMatchObject({ items: 12, wins: flips[0]!.wins, losses: flips[0]!.losses });
  });

  it('claim no interval where every answer and every probability of the gold is the same', () => {
    const all = (arms: readonly string[]) =>
      arms.flatMap((arm) => ['i-1', 'i-2'].map((itemId) => ({ itemId, userId: itemId, arm, right: true })));
    const { id: runId } = storeRun(database, { name: 'a', turns: all(['rag', 'dki']) });
    const { difference } = pairItems(database, { runId, arm: 'dki' }, { runId, arm: 'rag' }, judged);
    expect(difference).toEqual({ meanA: 1, meanB: 1, delta: 0, interval: null, n: 2, users: 2 });
    const turns = all(['rag']).map((turn) => ({ ...turn, answer: ' In Turin' }));
    const other = storeRun(database, { name: 'b', turns });
    const reworded = pairItems(database, { runId, arm: 'dki' }, { runId: other.id, arm: 'rag' }, judged);
    expect(reworded.counts).toMatchObject({ wins: 0, losses: 0, reworded: 2 });
    const { low, high } = reworded.difference!.interval!;
    expect([low < 0, high > 0]).toEqual([true, true]);
  });

  it('list flips first, then other answers, and are counted', () => {
    const turn = (itemId: string, arm: string, more: Partial<HandmadeTurn> = {}): HandmadeTurn => {
      return { itemId, userId: `user of ${itemId}`, arm, right: true, ...more };
    };
    const turns = [
      ...['i-3', 'i-2', 'i-1', 'i-0'].map((itemId) => turn(itemId, 'rag')),
      turn('i-3', 'dki'),
      turn('i-2', 'dki', { answer: ' In Turin' }),
      turn('i-1', 'dki', { right: false, repeat: 2 }),
    ];
    const { id: runId } = storeRun(database, { name: 'main', turns });
    const [a, b] = ['dki', 'rag'].map((arm) => ({ runId, arm })) as [ArmOfRun, ArmOfRun];
    const paired = pairItems(database, a, b, judged);
    expect(paired.counts).toEqual({ items: 3, wins: 0, losses: 1, reworded: 1, onlyA: 0, onlyB: 1 });
    expect(pairItems(database, b, a, judged).counts).toMatchObject({ wins: 1, losses: 0, onlyA: 1, onlyB: 0 });
    expect([ids(paired, 1, 2), ids(paired, 2, 2)]).toEqual([['i-1', 'i-2'], ['i-3']]);
    const [first] = details(paired, 1, 1);
    expect(first).toMatchObject({
      ...{ itemId: 'i-1', question: 'Where does my sister live?' },
      a: { repeat: 2, turn: 0, success: 0, repeats: 1, answer: ' Oslo', error: null },
      b: { repeat: 0, turn: 0, success: 1, repeats: 1, answer: ' Turin', error: null },
    });
    const unjudged = pairItems(database, a, b, false);
    expect([unjudged.difference, ids(unjudged, 1, 3)]).toEqual([null, ['i-2', 'i-1', 'i-3']]);
  });
});
