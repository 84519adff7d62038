import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { fakeConfig, smallDataset } from '../../test/fixtures/small-run.ts';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../store/database.ts';
import type { BenchHooks } from './run/bench-hooks.ts';
import { runSuites } from './run-suites.ts';

const folder = folderOfEachTest();

it.each([
  ['resume', 'interrupted', `process ${process.ppid} is making run "r"`],
  ['run', undefined, `process ${process.ppid} is making run "r"`],
  ['run', 'finished', "has a run 'r' already"],
] as const)(
  '--%s of a run that is %s refuses what it must not touch, and deletes no KV of it',
  async (option, status, message) => {
    writeFileSync(folder.file('small.jsonl'), smallDataset());
    if (status !== undefined) {
      using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
      storeRun(database, { name: 'r', turns: [], status, settings: { model: 'random:tiny-llama' } });
    }
    const kv = folder.file('r/kv/dki/block');
    mkdirSync(folder.file('r/kv/dki'), { recursive: true });
    writeFileSync(kv, '');
    if (status !== 'finished') writeFileSync(folder.file('r/lock'), String(process.ppid));
    const flags = { dataset: folder.file('small.jsonl'), arms: 'rag', out: folder.path, [option]: 'r' };
    const config = fakeConfig(folder, { ...flags, model: 'random:tiny-llama' });
    await expect(runSuites(config, () => fakeAdapter.opener({}))).rejects.toThrow(message);
    expect(existsSync(kv)).toBe(true);
  },
);

it('a run is not resumed by another build of the engine, whose turns its self-test says nothing about', async () => {
  writeFileSync(folder.file('small.jsonl'), smallDataset());
  const flags = { out: folder.path, model: 'random:tiny-llama' };
  const bench = (given: Readonly<Record<string, string>>, onProgress?: BenchHooks['onProgress']) =>
    runSuites(fakeConfig(folder, { ...flags, ...given }), () => fakeAdapter.opener({}), {
      ...(onProgress && { onProgress }),
    });
  const broken = bench({ dataset: folder.file('small.jsonl'), arms: 'rag', run: 'r' }, ({ phase }) => {
    if (phase === 'turns') throw new Error('the display broke');
  });
  await expect(broken).rejects.toThrow('the display broke');
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  database.query.run(`UPDATE runs SET environment = json_set(environment, '$.build', json('{"llama.cpp":"b0"}'))`);
  await expect(bench({ resume: 'r' })).rejects.toThrow(
    'run "r": the version (build) is not the one that the run began with',
  );
});
