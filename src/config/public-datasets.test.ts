import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { loadBenchConfig } from '../bench/load-config.ts';

const folder = folderOfEachTest();

const load = (flags: Record<string, unknown>) =>
  loadBenchConfig({ flags, environment: { DKI_BENCH_CACHE: folder.file('cache') }, workingFolder: folder.path });

test('a public set keeps its name, and has the file that was given', () => {
  expect(load({ dataset: 'locomo', dataFile: 'a,b.json', errata: 'e.json' })).toMatchObject({
    dataset: ['locomo'],
    dataFile: { locomo: folder.file('a,b.json') },
    errata: folder.file('e.json'),
  });
  expect(load({ dataset: './locomo.jsonl' })).not.toHaveProperty('dataFile');
});

test('several have a file each; one that was fetched needs none', () => {
  const dataset = 'musique-s,./own.jsonl,locomo';
  const files = { 'musique-s': folder.file('m,1.json'), locomo: folder.file('l.json') };
  expect(load({ dataset, dataFile: 'locomo=l.json, musique-s=m,1.json' }).dataFile).toEqual(files);
  const config = folder.file('dki-bench.config.json');
  writeFileSync(config, JSON.stringify({ dataFile: { locomo: 'l.json', 'musique-s': 'm,1.json' } }));
  expect(load({ dataset }).dataFile).toEqual(files);
  rmSync(config);
  const fetched = folder.file('cache/data/locomo.json');
  mkdirSync(folder.file('cache/data'), { recursive: true });
  writeFileSync(fetched, '[]');
  expect(load({ dataset, dataFile: 'musique-s=m.json' }).dataFile).toMatchObject({ locomo: fetched });
  expect(load({ dataset: 'locomo', dataFile: 'l.json' }).dataFile).toEqual({ locomo: folder.file('l.json') });
});

test.each<[string, Record<string, unknown>, string]>([
  ['no file', { dataset: 'locomo' }, '--dataset locomo: it does not ship, and no file was given'],
  [
    'a file without a public set',
    { dataset: './a.jsonl', dataFile: 'l.json' },
    '--data-file: --dataset names no public data set',
  ],
  [
    'one file for two',
    { dataset: 'locomo,musique-s', dataFile: 'l.json' },
    '--data-file "l.json": --dataset names 2 public data sets',
  ],
  [
    'a file of another',
    { dataset: 'locomo', dataFile: 'musique-s=m.json' },
    '--data-file: --dataset does not name musique-s',
  ],
  ['an empty file', { dataset: 'locomo', dataFile: 'locomo=' }, '--data-file locomo=: no file is named'],
  ['a near name', { dataset: 'lokomo' }, '--dataset: unknown data set "lokomo": did you mean locomo?'],
  [
    'errata without locomo',
    { dataset: 'musique-s', dataFile: 'm.json', errata: 'e.json' },
    '--errata: has no effect in this run',
  ],
])('refuses %s; says where a file is published, and on which terms', (name, flags, message) => {
  const hint = expect.stringMatching(name === 'no file' ? 'data/locomo10.json; CC BY-NC 4.0' : '.') as string;
  expect(() => load(flags)).toThrow(expect.objectContaining({ code: 'bad-option', message, hint }));
});
