import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { writeReport } from '../report/report-files.ts';
import { checkReports, redrawReports, storedReports } from './tables.ts';

const folder = folderOfEachTest();
let printed: string;
beforeEach(() => {
  printed = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  return () => write.mockRestore();
});

const read = (path: string): string => readFileSync(folder.file(path), 'utf8');

/** Writes reports of two suites of one run, and of both together, with outdated marks of arms. */
async function group(): Promise<void> {
  const arms = runResults.arms.map((arm) => {
    const mark = { colour: '#123456', shape: 'square', dash: [1, 0] } as const;
    return { ...arm, traits: { ...arm.traits, mark } };
  });
  const of = (suite: string, startedAt: string): RunResults => {
    return { ...runResults, arms, run: { ...runResults.run, name: `demo/${suite}`, suite, startedAt } };
  };
  const runs = [of('main', '2026-01-01T10:00:00Z'), of('ablation', '2026-01-01T09:00:00Z')];
  for (const results of runs) await writeReport(folder.file(results.run.name), [results]);
  await writeReport(folder.file('demo'), runs);
}

it('draws stored reports again with current marks, and changes nothing else in the results', async () => {
  await group();
  writeFileSync(folder.file('demo/main/figures/frontier.svg'), 'of before');
  expect(await checkReports(folder.path)).toBe(1);
  expect(printed).toContain('figures/frontier.svg: differs');
  const before = read('demo/main/results.json');
  expect(await redrawReports(folder.path)).toBe(0);
  expect(printed.match(/: drawn$/gm)).toHaveLength(3);
  const { colour } = runResults.arms[0]!.traits.mark;
  expect(read('demo/main/figures/frontier.svg')).toContain(`fill="${colour}"`);
  const [was, is] = [before, read('demo/main/results.json')].map(
    (text) => JSON.parse(text, (key, value: unknown) => (key === 'mark' ? 'a mark' : value)) as unknown,
  );
  expect(is).toEqual(was);
  expect(read('demo/main/results.json')).not.toContain('#123456');
  // Suites stand in the order in which they were made.
  const page = read('demo/report.html');
  expect(page.indexOf('id="suite-ablation"')).toBeLessThan(page.indexOf('id="suite-main"'));
  expect(await checkReports(folder.path)).toBe(0);
  expect(storedReports(folder.path).map(({ run }) => run.suite)).toEqual(['ablation', 'main']);
});

it('checks the files that a report stores, and draws the others on demand', async () => {
  await group();
  for (const path of ['demo/report.html', 'demo/main/figures', 'demo/main/tables/table-1.csv']) {
    rmSync(folder.file(path), { recursive: true });
  }
  expect(await checkReports(folder.path)).toBe(0);
  writeFileSync(folder.file('demo/main/tables/table-1.md'), 'of before');
  expect([await checkReports(folder.path), printed]).toEqual([
    1,
    expect.stringContaining('tables/table-1.md: differs'),
  ]);
  await redrawReports(folder.path);
  expect(read('demo/report.html')).toContain('id="suite-main"');
  expect(read('demo/main/tables/table-1.csv')).toMatch(/^arm,exactMatch,/);
});
