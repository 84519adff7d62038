import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { checkReport, writeReport } from './report-files.ts';

const folder = folderOfEachTest();

it('writes the results and each table in four formats, and leaves nothing half done', async () => {
  await writeReport(folder.file('run'), [runResults]);
  expect(JSON.parse(readFileSync(folder.file('run/results.json'), 'utf8'))).toEqual(runResults);
  const names = readdirSync(folder.file('run/tables'));
  expect(names.filter((name) => name.startsWith('table-1.')).sort()).toEqual(
    ['csv', 'json', 'md', 'tex'].map((suffix) => `table-1.${suffix}`),
  );
  expect(names.filter((name) => !/^[a-z0-9-]+\.(csv|json|md|tex)$/.test(name))).toEqual([]);
});

it('finds what was changed, value by value, and what is missing', async () => {
  await writeReport(folder.path, [runResults]);
  expect(await checkReport(folder.path, [runResults])).toEqual([]);
  const [first, ...others] = runResults.arms;
  const changed = { ...runResults, arms: [{ ...first!, n: 399 }, ...others] };
  writeFileSync(folder.file('results.json'), JSON.stringify(changed));
  rmSync(folder.file('tables/checks.md'));
  writeFileSync(folder.file('tables/table-1.csv'), '');
  expect(await checkReport(folder.path, [runResults])).toEqual([
    'results.json: arms.0.n differs',
    'tables/table-1.csv: differs',
    'tables/checks.md: missing',
  ]);
});

it('says what to do where there is no report, or no place for one', async () => {
  await expect(checkReport(folder.file('none'), [runResults])).rejects.toThrow(/results\.json does not exist$/);
  writeFileSync(folder.file('file'), '');
  await expect(writeReport(folder.file('file'), [runResults])).rejects.toThrow(/^the report cannot be written: /);
});

it.each([
  [0o700, 0o600],
  [0o755, 0o644],
])('in a folder of mode %o, files are of mode %o', async (ofFolder, ofFile) => {
  chmodSync(folder.path, 0o755);
  mkdirSync(folder.file('reports'));
  chmodSync(folder.file('reports'), ofFolder);
  const report = folder.file('reports/run');
  await writeReport(report, [runResults]);
  const modes = ['results.json', 'report.html'].map((name) => statSync(join(report, name)).mode & 0o777);
  expect(modes).toEqual([ofFile, ofFile]);
});
