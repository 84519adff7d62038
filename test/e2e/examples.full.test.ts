import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { runProcess, typescript } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const examples = join(import.meta.dirname, '../../examples');

const folder = temporaryFolder();

/** The lines that each must print, among others. */
const printed = {
  'own-arm.ts': [/^rag-best-two [\d.]+$/m, /^same memories passed$/m, /^errors passed$/m],
  'own-metric.ts': [/^rag [\d.]+$/m, /^metrics passed$/m],
  'own-retriever.ts': [/^dki [\d.]+ \{ stored: \d+, retrieved: [1-9]\d*/m, /^by-words passed$/m],
  'own-engine.ts': [/^dki [\d.]+ [\d.]+$/m],
};

it('are all tried, but for the job of Kubernetes, which `scale-document` reads', () => {
  expect(
    readdirSync(examples)
      .filter((name) => name !== 'kubernetes-job.yaml')
      .toSorted(),
  ).toEqual(Object.keys(printed).toSorted());
});

it.each(Object.entries(printed))('%s runs as it stands, in fewer than 60 lines', async (name, lines) => {
  const file = join(examples, name);
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(60);
  const { code, stdout, stderr } = await runProcess([...typescript, file], { cwd: folder.path });
  expect(stderr).not.toMatch(/Error/);
  expect(code).toBe(0);
  for (const line of lines) expect(stdout).toMatch(line);
});

it('the example of the README asks 40 questions, as it says', async () => {
  const readme = readFileSync(join(examples, '../README.md'), 'utf8');
  const [, code = ''] = /```ts\n([^]*?)```/.exec(readme)!;
  const library = join(examples, '../src/index.ts');
  const file = folder.file('readme.mts');
  writeFileSync(file, `${code.replace("'dki-bench'", `'${library}'`)}\nconsole.log(JSON.stringify(results));`);
  const { stderr, stdout, code: exitCode } = await runProcess([...typescript, file], { cwd: folder.path });
  expect([exitCode, stderr]).toEqual([0, expect.not.stringMatching(/Error/)]);
  const { arms } = JSON.parse(stdout.trim().split('\n').at(-1)!) as Pick<RunResults, 'arms'>;
  expect(arms.map(({ arm, n }) => [arm, n])).toEqual([
    ['rag', 40],
    ['dki', 40],
    ['rag-best-two', 40],
  ]);
});
