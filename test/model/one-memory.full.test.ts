import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/compose.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

it('proves cells on a run whose prompts never have two memories', async () => {
  using folder = new TestFolder();
  const [results] = await runBench(smallConfig(folder, { arms: 'rag,dki,dki-blocks', topK: '1', limit: '6' }));
  const cells = results!.checks.find(({ check }) => check === 'cells')!;
  expect([cells.status, cells.evidence]).toEqual(['passed', expect.stringMatching(/turns of dki, dki-blocks/)]);
});
