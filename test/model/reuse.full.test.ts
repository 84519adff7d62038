import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { reuseFigure } from '../../src/report/topics/reuse.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { simulatedArmNames } from '../../src/systems/simulator/simulated-arms.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

it('suite reuse meters of each arm what the simulator counts, with entries evicted, and draws a map', async () => {
  using folder = new TestFolder();
  const flags = { suite: 'reuse', dataset: 'recall-en', users: '5', limit: '60', lengths: '100,1000' };
  const [results] = await runBench(smallConfig(folder, flags));
  const { arms, traffic, map } = results!.measured!.reuse!;
  expect(traffic).toMatchObject({ turns: 60, retrieved: 5 });
  expect(arms.map(({ arm }) => arm)).toEqual(simulatedArmNames);
  for (const { arm, real, simulated, differing } of arms) {
    const { ms, ...counts } = real;
    expect([arm, simulated]).toEqual([arm, { ...counts, ms: expect.any(Number) }]);
    expect(differing).toBe(0);
    expect(ms).toBeGreaterThan(0);
    if (arm !== 'rag') expect(counts.evicted).toBeGreaterThan(0);
  }
  const evaluated = Object.fromEntries(arms.map(({ arm, real }) => [arm, real.evaluatedTokens]));
  expect(evaluated['rag-cached']).toBeLessThan(evaluated['rag']!);
  expect(evaluated['dki-blocks']).toBeLessThan(evaluated['rag-cached']!);
  expect(new Set(map.map(({ memoryTokens, room }) => `${room} ${memoryTokens}`)).size).toBe(4);
  expect([...reportTables(results!).keys()]).toEqual(['16', '16b']);
  expect(reuseFigure(results!)!.data).toHaveLength(2 * 2 * 2 * 5);
});
