import { closeSync, openSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { main, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const data = (words: readonly string[], nodeOptions: readonly string[] = []) =>
  runProcess([process.execPath, ...nodeOptions, main, 'data', ...words], { cwd: folder.path });

it('lists what ships, with the hash that making it gives', async () => {
  const list = (...words: readonly string[]) => runProcess([process.execPath, main, 'list', 'datasets', ...words]);
  const { code, stdout } = await list('--json');
  expect(code).toBe(0);
  const entries = JSON.parse(stdout) as { name: string; sha256: string }[];
  const made = JSON.parse((await data(['make', 'recall-en', '--json'])).stdout) as { sha256: string; valid: boolean };
  const entry = entries.find(({ name }) => name === 'recall-en')!;
  expect(entry).toMatchObject({
    name: 'recall-en',
    ships: true,
    suites: ['main', 'ablation', 'alpha', 'latency', 'storage', 'isolation'],
    language: 'en',
    users: 20,
    items: 200,
  });
  expect(made).toMatchObject({ sha256: entry.sha256, valid: true });
  expect((await list()).stdout).toContain(`  ${entry.sha256.slice(0, 12)}  yes`);
});

it('50 MB of CSV are converted in little memory', async () => {
  const file = openSync(folder.file('large.csv'), 'w');
  writeSync(file, 'user,memory,question,answer\n');
  // Every fourth character is not Latin: text that was kept would take two bytes for each.
  const text = 'abc记'.repeat(1_700);
  for (let row = 0; row < 5_000; row++) writeSync(file, `u${row % 50},"${row} ""${text}""",What is ${row}?,x\n`);
  closeSync(file);
  const words = ['convert', '--from', 'csv', 'large.csv', '--out', 'large.jsonl'];
  const { code, stdout, stderr } = await data(words, ['--max-old-space-size=64']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('50 users, 5000 memories, 5000 items');
});
