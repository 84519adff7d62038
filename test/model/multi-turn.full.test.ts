import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { answeredTurns } from './finished-run.ts';
import { failedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

const evicted = 'dki-blocks-evict-snapkv:.75';
const arms = ['rag', 'dki', 'dki-blocks', evicted, `${evicted}@repair=2`, `${evicted}@repair=2:random`];

it('suite multi-turn evicts once for all turns of a context, and repairs the blocks that each question needs', async () => {
  using folder = new TestFolder();
  const config = smallConfig(folder, {
    suite: 'multi-turn',
    users: '2',
    arms: arms.join(),
    topK: '1000',
    run: 'turns',
  });
  const [results] = await runBench(config);
  expect(failedChecks(results!)).toEqual([]);

  for (const arm of arms.slice(3)) {
    const turns = answeredTurns(config, 'turns', arm);
    expect(turns.map(({ item }) => item.condition)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    const isFirst = ({ item }: (typeof turns)[number]): boolean => item.condition === 1;
    expect(turns.filter(({ account }) => account.cache === 'miss')).toEqual(turns.filter(isFirst));
    expect(turns.filter(({ account }) => account.selector !== undefined)).toEqual(turns.filter(isFirst));
  }
  const repaired = answeredTurns(config, 'turns', arms[4]);
  for (const { prefill, given } of repaired) {
    const best = given.retrieved.slice(0, 2).map(({ memoryId }) => memoryId);
    const blocks = prefill !== null && prefill.strategy !== 'prefix' ? prefill.blocks : [];
    expect(blocks.flatMap(({ repaired, memoryId }) => (repaired === true ? memoryId : [])).sort()).toEqual(best.sort());
  }

  const kept = new Map(results!.multiTurn!.map((one) => [one.arm, one]));
  const bytes = (arm: string): number => kept.get(arm)!.promptBytes!;
  expect(kept.get('rag')).toMatchObject({ promptBytes: null, repairedTokens: null, change: { delta: 0, users: 2 } });
  expect(bytes(evicted) / bytes('dki-blocks')).toBeCloseTo(0.24, 1);
  expect(bytes(arms[4]!) / bytes('dki-blocks')).toBeCloseTo((2 + 10 * 0.24) / 12, 1);
  expect(kept.get(arms[4]!)!.repairedTokens).toBeGreaterThan(10);
  expect(results!.methods!.find(({ arm }) => arm === arms[4])!.againstRandom!.b).toBe(arms[5]);

  const { rows } = reportTables(results!).get('17')!;
  expect(rows.map(({ label }) => label)).toEqual(arms);
  const turn = (row: number, number: number) => rows[row]!.cells[`turn ${number}`];
  expect([turn(0, 1), turn(0, 5)]).toMatchObject([{ value: 100 }, { value: 100 }]);
  expect(rows[0]!.cells['change']).toMatchObject({ value: 0 });
});
