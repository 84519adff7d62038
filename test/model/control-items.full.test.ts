import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { armResultsTable } from '../../src/report/tables/arm-results-table.ts';
import { checkOf, smallDataset } from '../fixtures/small-run.ts';
import { TestFolder } from './bench-fixture.ts';

it('twin and wrong memories answer 60 of 63 items; tables say so, pairs are items that both have, checks pass', async () => {
  using folder = new TestFolder();
  const users = Array.from({ length: 21 }, (_, user) => `user-${user}`);
  writeFileSync(folder.file('small.jsonl'), smallDataset(users));
  const flags = { dataset: folder.file('small.jsonl'), arms: 'rag,dki,rag-twin,dki-wrong', out: folder.path };
  const [results] = await runBench(loadBenchConfig({ flags, environment: {}, workingFolder: folder.path }));
  const { arms, comparisons, run } = results!;
  expect(run.dataset).toMatchObject({ items: 63, controlItems: 60 });
  expect(Object.fromEntries(arms.map(({ arm, n }) => [arm, n]))).toEqual({
    ...{ rag: 63, dki: 63 },
    ...{ 'rag-twin': 60, 'dki-wrong': 60 },
  });
  for (const check of ['sample', 'token accounting', 'token identity', 'answers', 'errors'] as const) {
    expect(checkOf(results!, check)).toMatchObject({ check, status: 'passed' });
  }
  expect(checkOf(results!, 'sample').evidence).toMatch(/^246 of 246 planned turns are rows/);
  const pairs = (arm: string) => new Set(comparisons.flatMap(({ a, b, n }) => (a === arm && b === 'rag' ? n : [])));
  expect(Math.max(...pairs('dki-wrong'))).toBe(60);
  expect(Math.max(...pairs('dki'))).toBe(63);
  expect(armResultsTable(results!).notes).toContain(
    'rag-twin, dki-wrong: over 60 of 63 items, drawn by the seed and evenly over categories. ' +
      'Differences are over the items that both arms have.',
  );
});
