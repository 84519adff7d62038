import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BenchError } from '../base/bench-error.ts';
import { loadBenchConfig } from '../bench/load-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-public-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const load = (flags: Record<string, unknown>) =>
  loadBenchConfig({ flags, environment: { DKI_BENCH_CACHE: join(folder, 'cache') }, workingFolder: folder });

function refusal(flags: Record<string, unknown>): BenchError {
  try {
    load(flags);
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a public set keeps its name, and has the file that was given', () => {
  expect(load({ dataset: 'locomo', dataFile: 'a,b.json', errata: 'e.json' })).toMatchObject({
    dataset: ['locomo'],
    dataFile: { locomo: join(folder, 'a,b.json') },
    errata: join(folder, 'e.json'),
  });
  expect(load({ dataset: './locomo.jsonl' })).not.toHaveProperty('dataFile');
});

test('several have a file each; one that was fetched needs none', () => {
  const dataset = 'musique-s,./own.jsonl,locomo';
  const files = { 'musique-s': join(folder, 'm,1.json'), locomo: join(folder, 'l.json') };
  expect(load({ dataset, dataFile: 'locomo=l.json, musique-s=m,1.json' }).dataFile).toEqual(files);
  writeFileSync(
    join(folder, 'dki-bench.config.json'),
    JSON.stringify({ dataFile: { locomo: 'l.json', 'musique-s': 'm,1.json' } }),
  );
  expect(load({ dataset }).dataFile).toEqual(files);
  rmSync(join(folder, 'dki-bench.config.json'));
  const fetched = join(folder, 'cache', 'data', 'locomo.json');
  mkdirSync(join(folder, 'cache', 'data'), { recursive: true });
  writeFileSync(fetched, '[]');
  expect(load({ dataset, dataFile: 'musique-s=m.json' }).dataFile).toMatchObject({ locomo: fetched });
  expect(load({ dataset: 'locomo', dataFile: 'l.json' }).dataFile).toEqual({ locomo: join(folder, 'l.json') });
});

test.each<[string, Record<string, unknown>, string]>([
  ['no file', { dataset: 'locomo' }, '--dataset locomo: does not ship, and no file of it was given'],
  [
    'a file of nothing',
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
  ['a near name', { dataset: 'lokomo' }, '--dataset: unknown data set "lokomo": did you mean locomo?'],
  [
    'errata of nothing',
    { dataset: 'musique-s', dataFile: 'm.json', errata: 'e.json' },
    '--errata: has no effect in this run',
  ],
])('refuses %s', (_, flags, message) => {
  const error = refusal(flags);
  expect(error).toMatchObject({ code: 'bad-option', message });
  expect(error.hint).not.toBe('');
});

test('says where the file is published, and on which terms', () => {
  expect(refusal({ dataset: 'locomo' }).hint).toContain('data/locomo10.json; CC BY-NC 4.0');
});
