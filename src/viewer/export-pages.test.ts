import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { exportPages, type ViewerExport } from './export-pages.ts';

const folder = folderOfEachTest();
let database: BenchDatabase;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  for (const name of ['<a>', 'b']) {
    const turns = Array.from({ length: 30 }, (_, index) => index).flatMap((index) =>
      ['rag', 'dki'].map((arm) => ({ itemId: `../i-${index}`, userId: 'ann', arm, right: arm === 'rag' || index > 3 })),
    );
    const { id } = storeRun(database, { name, turns });
    new RunRepository(database).update(id, { results: runResults });
  }
  return () => database.close();
});

const written = (name: string, more: Partial<ViewerExport> = {}) =>
  exportPages({
    database,
    folder: folder.file(name),
    mostBytes: 50e6,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...more,
  });

/** All files that can be reached from the index. */
function reached(name: string): Set<string> {
  const files = new Set([folder.file(`${name}/index.html`)]);
  for (const file of files) {
    expect([file, existsSync(file)]).toEqual([file, true]);
    if (!file.endsWith('.html')) continue;
    const links = readFileSync(file, 'utf8').matchAll(/ (?:href|src)="([^"#]+)(?:#[^"]*)?"/g);
    for (const [, to] of links) if (!to!.startsWith('data:')) files.add(join(dirname(file), to!));
  }
  return files;
}

it('writes a run as files that lead to one another, named by kind and number', async () => {
  const made = await written('pages', { run: '<a>' });
  expect(made).toMatchObject({ runs: 1, items: 30, turns: 60, leftOut: [] });
  const files = readdirSync(folder.file('pages/files'));
  expect(files.filter((file) => !/^(?:[a-z]+-\d+\.(?:html|json|svg)|style\.css|viewer\.js)$/.test(file))).toEqual([]);
  expect(reached('pages').size).toBe(made.files);
  expect(files.filter((file) => file.startsWith('turn-'))).toHaveLength(120);
  const index = readFileSync(folder.file('pages/index.html'), 'utf8');
  expect(index).toContain('Items 1 to 30 of 30');
  expect(index).not.toMatch(/<form[^>]*action|<nav aria-label="Breadcrumbs"/);
});

it('writes all runs under an index of them', async () => {
  const made = await written('site');
  expect(made).toMatchObject({ runs: 2, items: 60, turns: 120, leftOut: [] });
  expect(reached('site').size).toBe(made.files);
  expect(readFileSync(folder.file('site/files/run-1.html'), 'utf8')).toContain('<a href="../index.html">Runs</a>');
});

it('leaves out the last items where it would become too large, with their links', async () => {
  const mostBytes = 1_000_000;
  const made = await written('small', { run: 'b', mostBytes });
  expect([made.items > 0, made.items < 30, made.bytes < mostBytes]).toEqual([true, true, true]);
  const [itemsLeft, turnsLeft] = [30 - made.items, 60 - made.turns];
  expect(made.leftOut).toEqual([
    `Left out: the last ${itemsLeft} of 30 items, ${turnsLeft} of 60 turns. An export takes at most 1 MB.`,
  ]);
  expect(readFileSync(folder.file('small/index.html'), 'utf8')).toContain(made.leftOut[0]);
  expect(reached('small').size).toBe(made.files);
});

it('leaves nothing behind if it is ended, and refuses a folder that holds something', async () => {
  await expect(written('ended', { signal: AbortSignal.abort() })).rejects.toThrow('abort');
  expect(readdirSync(folder.path)).toEqual([]);
  await written('pages', { run: 'b' });
  await expect(written('pages')).rejects.toMatchObject({
    code: 'bad-option',
    message: expect.stringContaining('the folder is not empty') as string,
  });
});
