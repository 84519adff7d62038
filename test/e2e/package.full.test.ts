import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installPackage, packPackage } from '../../scripts/check-package.ts';
import { runProcess } from '../fixtures/run-process.ts';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dki-package-')));
  installPackage(packPackage(folder), folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

it('installed from its tarball in an empty folder, it benches', async () => {
  const words = ['npx', '--no-install', 'dki-bench', 'bench', '--limit', '8'];
  const { code, stdout, stderr } = await runProcess(words, { cwd: folder });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
  expect(stdout).toMatch(/^\| rag /m);
  expect(readdirSync(join(folder, 'reports'))).toContain('dki-bench.sqlite');
});
