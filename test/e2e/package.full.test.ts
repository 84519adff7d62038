import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { installPackage, packPackage } from '../../scripts/check-package.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = realpathSync(temporaryFolder().path);
beforeAll(() => installPackage(packPackage(folder), folder));

it('installed from its tarball in an empty folder, it benches', async () => {
  const words = ['npx', '--no-install', 'dki-bench', 'bench', '--users', '10', '--limit', '8', '--json'];
  const { code, stdout, stderr } = await runProcess(words, { cwd: folder });
  expect(code, stderr).toBe(0);
  const { run, arms, checks } = JSON.parse(stdout) as RunResults;
  expect([run.status, run.dataset.users]).toEqual(['finished', 10]);
  expect(arms.map(({ arm, errors }) => [arm, errors])).toContainEqual(['dki', 0]);
  expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(run.notes.filter((note) => note.includes('native kernels passed over'))).toEqual([]);
  expect(readdirSync(join(folder, 'reports'))).toContain('dki-bench.sqlite');
});
