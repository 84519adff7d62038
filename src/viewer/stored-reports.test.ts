import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { storeRun } from '../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../store/database.ts';
import { storedOutcomes } from '../report/outcomes.ts';
import { reportedItemPage } from './item-page.ts';
import { reportLinks } from './links.ts';
import { readMatrix } from './matrix/matrix-page.ts';
import { readRunPage } from './run/run-page.ts';
import { readRunsPage } from './runs-page.ts';
import { openReports, type TextsOfRun } from './stored-reports.ts';

const noTexts: TextsOfRun = () => Promise.resolve(null);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-reports-'));
  return () => rmSync(folder, { recursive: true });
});

/** A report of two items and two arms. @param withheld its data are others' */
function report(name: string, withheld = false): void {
  using database = openDatabase({ path: ':memory:' });
  const turn = { userId: 'ann', right: true } as const;
  const stored = storeRun(database, {
    name,
    turns: [
      { ...turn, itemId: 'i-1', arm: 'rag' },
      { ...turn, itemId: 'i-1', arm: 'dki', right: false },
      { ...turn, itemId: 'i-2', arm: 'rag' },
      { ...turn, itemId: 'i-2', arm: 'dki' },
    ],
  });
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const { plan, environment } = stored;
  const dataset = { ...stored.dataset, ...(withheld ? { texts: 'withheld' as const } : {}) };
  const run = { ...runResults.run, name: 'main', settings: plan.settings, environment, dataset };
  writeFileSync(join(place, 'results.json'), JSON.stringify({ ...runResults, run }));
  writeFileSync(join(place, 'outcomes.jsonl'), storedOutcomes(database, stored.id));
}

it('opens every report of a folder, those of one name apart, with lists, matrix and items', async () => {
  report('a');
  report('b/main');
  rmSync(join(folder, 'b/main/outcomes.jsonl'));
  const { database, withoutOutcomes } = await openReports(folder, noTexts);
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
  const page = String(await reportedItemPage(database, { run: 'main', item: 'i-1' }, reportLinks));
  expect(page).toMatch(/Where does my sister live\?[^]*rag[^]*✓ right[^]*dki[^]*✗ wrong/);
  expect(page).toContain('user ann');
});

it('shows the texts of data that are not ours from a file of the reader alone', async () => {
  report('a', true);
  writeFileSync(join(folder, 'a/outcomes.jsonl'), '');
  report('a', true);
  const texts: TextsOfRun = () => Promise.resolve(new Map([['i-2', { query: 'From my file?', gold: null }]]));
  const { database } = await openReports(join(folder, 'a/results.json'), texts);
  using _ = database;
  expect(readMatrix(database, 'main', {}).hiddenTexts).toContain('which are others');
  const shown = readMatrix(database, 'main', {}, { hidden: () => null });
  expect(shown.rows.map(({ question, gold }) => [question, gold])[1]).toEqual(['From my file?', null]);
});

it('says where there is no report, and which file cannot be read', async () => {
  await expect(openReports(join(folder, 'none'), noTexts)).rejects.toThrow('there is no such file or folder');
  await expect(openReports(folder, noTexts)).rejects.toThrow('no report is in it');
  report('a');
  writeFileSync(join(folder, 'a/results.json'), '{');
  await expect(openReports(folder, noTexts)).rejects.toMatchObject({ code: 'bad-data' });
  writeFileSync(join(folder, 'a/results.json'), '{"schemaVersion":99}');
  await expect(openReports(folder, noTexts)).rejects.toThrow('records of version 99');
});
