import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { checkReport, writeReport } from './report-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('writes the results and each table in four formats, and leaves nothing half done', async () => {
  await writeReport(join(folder, 'run'), [runResults]);
  expect(JSON.parse(readFileSync(join(folder, 'run/results.json'), 'utf8'))).toEqual(runResults);
  const names = readdirSync(join(folder, 'run/tables'));
  expect(names.filter((name) => name.startsWith('table-1.')).sort()).toEqual(
    ['csv', 'json', 'md', 'tex'].map((suffix) => `table-1.${suffix}`),
  );
  expect(names.filter((name) => !/^[a-z0-9-]+\.(csv|json|md|tex)$/.test(name))).toEqual([]);
});

it('finds what was changed, value by value, and what is missing', async () => {
  await writeReport(folder, [runResults]);
  expect(await checkReport(folder, [runResults])).toEqual([]);
  const [first, ...others] = runResults.arms;
  const changed = { ...runResults, arms: [{ ...first!, n: 399 }, ...others] };
  writeFileSync(join(folder, 'results.json'), JSON.stringify(changed));
  rmSync(join(folder, 'tables/checks.md'));
  writeFileSync(join(folder, 'tables/table-1.csv'), '');
  expect(await checkReport(folder, [runResults])).toEqual([
    'results.json: arms.0.n differs',
    'tables/table-1.csv: differs',
    'tables/checks.md: missing',
  ]);
});

it('says what to do where there is no report, or no place for one', async () => {
  await expect(checkReport(join(folder, 'none'), [runResults])).rejects.toThrow(/results\.json is not there$/);
  writeFileSync(join(folder, 'file'), '');
  await expect(writeReport(join(folder, 'file'), [runResults])).rejects.toThrow(/^the report cannot be written: /);
});
