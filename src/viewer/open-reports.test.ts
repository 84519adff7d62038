import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { errorLike } from '../../test/fixtures/error-like.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../store/database.ts';
import { wrongClasses } from '../store/records/turn-record.ts';
import { storedOutcomes } from '../report/turn-outcomes-file.ts';
import { reportItemPage } from './item-page.ts';
import { reportLinks } from './links.ts';
import { readMatrix } from './matrix/item-arm-matrix.ts';
import { readRunPage } from './run/run-page.ts';
import { readRunsPage } from './runs-page.ts';
import { openReports, readReport, type FindItemTexts } from './open-reports.ts';

const noTexts: FindItemTexts = () => Promise.resolve(null);

const folder = folderOfEachTest();

/** A report of two items and two arms. @param withheld its data are others' */
function report(name: string, withheld = false): void {
  using database = openDatabase({ path: ':memory:' });
  const turn = { userId: 'ann', right: true };
  const turns = ['i-1', 'i-2'].flatMap((itemId) => [
    { ...turn, itemId, arm: 'rag' },
    { ...turn, itemId, arm: 'dki', right: itemId === 'i-2' },
  ]);
  const stored = storeRun(database, { name, turns });
  const place = folder.file(name);
  mkdirSync(place, { recursive: true });
  const { plan, environment } = stored;
  const dataset = { ...stored.dataset, ...(withheld ? { texts: 'withheld' as const } : {}) };
  const run = { ...runResults.run, name: 'main', settings: plan.settings, environment, dataset };
  writeFileSync(join(place, 'results.json'), JSON.stringify({ ...runResults, run }));
  writeFileSync(join(place, 'outcomes.jsonl'), storedOutcomes(database, stored.id));
}

it('opens every report of a folder, also those with the same name, with lists, matrix and items', async () => {
  report('a');
  report('b/main');
  rmSync(folder.file('b/main/outcomes.jsonl'));
  const { database, withoutOutcomes } = await openReports(folder.path, noTexts);
  using _ = database;
  expect(
    readRunsPage(database, {})
      .runs.map(({ name }) => name)
      .sort(),
  ).toEqual(['main', 'main (b/main)']);
  expect(withoutOutcomes).toEqual(['main (b/main)']);
  expect(readRunPage(database, 'main', {}).results?.arms).toHaveLength(runResults.arms.length);
  const { rows, arms } = readMatrix(database, 'main', { wrong: 'dki', right: 'rag' });
  expect([arms, rows.map(({ itemId, gold }) => [itemId, gold])]).toEqual([['rag', 'dki'], [['i-1', 'Turin']]]);
  const page = String(await reportItemPage(database, { run: 'main', item: 'i-1' }, reportLinks));
  expect(page).toMatch(/Where does my sister live\?[^]*rag[^]*✓[^]*right[^]*dki[^]*✗[^]*wrong/);
  expect(page).toContain('user ann');
});

it('shows withheld texts only from a file of the reader', async () => {
  report('a', true);
  writeFileSync(folder.file('a/outcomes.jsonl'), '');
  report('a', true);
  const texts: FindItemTexts = () => Promise.resolve(new Map([['i-2', { query: 'From my file?', gold: null }]]));
  const { database } = await openReports(folder.file('a/results.json'), texts);
  using _ = database;
  expect(readMatrix(database, 'main', {}).hiddenTexts).toContain('which may not be redistributed');
  const shown = readMatrix(database, 'main', {}, { hidden: () => null });
  expect(shown.rows.map(({ question, gold }) => [question, gold])[1]).toEqual(['From my file?', null]);
});

it('says where there is no report, and which file cannot be read', async () => {
  await expect(openReports(folder.file('none'), noTexts)).rejects.toThrow('no such file or folder');
  await expect(openReports(folder.path, noTexts)).rejects.toThrow('the folder has no report');
  report('a');
  writeFileSync(folder.file('a/results.json'), '{');
  await expect(openReports(folder.path, noTexts)).rejects.toMatchObject({ code: 'bad-data' });
  writeFileSync(folder.file('a/results.json'), '{"schemaVersion":99}');
  await expect(openReports(folder.path, noTexts)).rejects.toThrow('records of version 99');
  for (const text of ['null', '7', '[]', '{"schemaVersion":NaN}']) {
    writeFileSync(folder.file('a/results.json'), text);
    await expect(openReports(folder.path, noTexts)).rejects.toMatchObject({ code: 'bad-data' });
  }
});

it('names damaged outcomes, and a pipe in place of a file of a report', async () => {
  report('a');
  const packed = folder.file('a/outcomes.jsonl.gz');
  for (const bytes of ['no archive', gzipSync('{}').subarray(0, 15)]) {
    writeFileSync(packed, bytes);
    await expect(openReports(folder.path, noTexts)).rejects.toMatchObject(errorLike('bad-data', packed));
  }
  rmSync(folder.file('a/results.json'));
  spawnSync('mkfifo', [folder.file('a/results.json')]);
  await expect(openReports(folder.path, noTexts)).rejects.toMatchObject(errorLike('bad-data', 'is a pipe or a device'));
});

it('shows a report that version 0.1.0 wrote', async () => {
  const old = join(import.meta.dirname, '../../test/fixtures/release-0.1.0/small');
  const { database } = await openReports(old, noTexts);
  using _ = database;
  const { run, arms, comparisons } = readReport(old);
  expect(readRunPage(database, run.name, {}).results?.arms).toHaveLength(arms.length);
  expect(arms.map(({ arm }) => arm)).toContain('dki');
  expect(comparisons.length).toBeGreaterThan(0);
  expect(arms.map(({ wrong }) => Object.keys(wrong ?? {}))).toEqual(arms.map(() => [...wrongClasses]));
  expect(readMatrix(database, run.name, {}).rows.length).toBeGreaterThan(0);
});
