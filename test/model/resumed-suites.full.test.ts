import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { BenchHooks } from '../../src/eval/run/bench-hooks.ts';
import { runSuites } from '../../src/eval/run-suites.ts';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';
import { fakeConfig, smallDataset } from '../fixtures/small-run.ts';

const folder = folderOfEachTest();

function bench(flags: Readonly<Record<string, string>>, hooks: BenchHooks = {}) {
  const config = fakeConfig(folder, { out: folder.path, model: 'random:tiny-llama', ...flags });
  return runSuites(config, () => fakeAdapter.opener({}), hooks);
}

it('suites that had not begun when their command was interrupted get its options', async () => {
  writeFileSync(folder.file('small.jsonl'), smallDataset());
  const flags = {
    suite: 'main,isolation',
    dataset: folder.file('small.jsonl'),
    arms: 'none,rag',
    seed: '3',
    topK: '1',
  };
  const onProgress: BenchHooks['onProgress'] = ({ phase }) => {
    if (phase === 'turns') throw new Error('the display broke');
  };
  await expect(bench({ ...flags, run: 'broken' }, { onProgress })).rejects.toThrow('the display broke');
  const [main, isolation] = await bench({ resume: 'broken' });
  expect(main!.run.settings).toMatchObject({
    suite: ['main', 'isolation'],
    seed: 3,
    topK: 1,
    dataset: ['small.jsonl'],
  });
  // The suite itself asks fewer questions, unless the command says how many.
  expect(isolation!.run.settings).toEqual({ ...main!.run.settings, limit: 24 });
  expect(isolation!.arms.map(({ arm }) => arm)).toEqual(['none', 'rag']);
});
