import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import type { Ended } from '../fixtures/run-process.ts';
import { smallDataset } from '../fixtures/small-run.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const host = programIn(folder.path);
const users = Array.from({ length: 10 }, (_, user) => `user${user}`);
const contrast = { arm: 'dki-blocks', reference: 'rag', categories: ['names', 'towns'], metric: 'contains' };

/** Two questions for names and one for a town by each user, with a contrast in the header. */
function writeData(name: string, plannedContrast: unknown): string {
  const lines = smallDataset(users).split('\n');
  const records = lines.map((line) => {
    const record = JSON.parse(line) as Record<string, unknown>;
    if (record['type'] === 'dataset') return { ...record, name, primaryMetric: 'contains', plannedContrast };
    if (record['type'] !== 'item') return record;
    return { ...record, category: (record['itemId'] as string).endsWith('q2') ? 'towns' : 'names' };
  });
  const file = folder.file(`${name}.jsonl`);
  writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n'));
  return file;
}

const bench = (file: string, ...words: string[]): Promise<Ended> =>
  host.run('bench', '--dataset', file, '--arms', 'rag,dki,dki-blocks', '--out', 'reports', ...words);

let run: Ended;
let twice: Ended;
beforeAll(async () => {
  const file = writeData('planned', contrast);
  run = await bench(file, '--run', 'first');
  twice = await bench(file, '--run', 'second', '--arms', 'rag,dki', '--quiet');
});

it('a run says before its first turn what it plans and what it can show, and in one line what it found', () => {
  const before =
    'planned contrast: (dki-blocks − rag) on names minus the same on towns, by contains; its items (20 of names, 10 of towns) ' +
    'can show 59.4 points or more (80 % power, two-sided 5 %, if the arms differ on 30 % of independent items)';
  // Lines of a terminal are not wrapped where there is none.
  const [place, turns] = [run.stderr.indexOf(before), run.stderr.indexOf(' turns')];
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(turns);
  const { contrast: found } = JSON.parse(readFileSync(folder.file('reports/first/results.json'), 'utf8')) as RunResults;
  expect(found).toMatchObject({ planned: { ...contrast, discordance: 0.3 }, before: { items: [20, 10] } });
  if (found!.found.state !== 'measured') throw new Error('the contrast is absent');
  const text = run.stdout.replaceAll('\n', ' ');
  expect(text).toMatch(/ Planned contrast, \(dki-blocks − rag\) on names minus the same on towns, by contains: \S+ \[/);
});

it('a run without the arm says at the end that the contrast is absent', () => {
  const text = twice.stdout.replaceAll('\n', ' ');
  expect(text).toContain('by contains: not measured (no turn of dki-blocks).');
});

it('the contrasts of several runs are one table', async () => {
  const { stdout } = await host.run('tables', '--table', 'contrast', '--run', 'first,second', '--format', 'csv');
  const [, ...rows] = stdout.split('\n').filter((line) => line.includes(','));
  expect(rows.some((row) => row.includes('(first)'))).toBe(true);
  expect(rows.some((row) => row.includes('(second)') && row.includes('absent: no turn of dki-blocks'))).toBe(true);
  const reports = await host.run('tables', '--table', 'contrast', '--report', 'reports', '--format', 'csv');
  expect(reports.stdout).toBe(stdout);
});

it('the differences by model and category are a picture', async () => {
  const { code, stdout } = await host.run('tables', '--run', 'first', '--figure', 'dki,dki-blocks');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^<svg /);
  const { arms, run: of } = JSON.parse(readFileSync(folder.file('reports/first/results.json'), 'utf8')) as RunResults;
  const size = `${(of.model.parameters! / 1e6).toFixed(0)} M`;
  for (const arm of ['dki', 'dki-blocks']) {
    const parts = arms.find((one) => one.arm === arm)!.breakdown.filter(({ field }) => field === 'category');
    expect(parts.length).toBe(2);
    for (const { value, difference } of parts) {
      const points = (100 * difference!.delta).toFixed(1).replace('-', '−').replace('−0.0', '0.0');
      expect(stdout).toContain(`${value}, ${size}, ${arm}: ${points} [`);
    }
  }
  expectMistake(
    await host.run('tables', '--run', 'first', '--figure', 'dkii'),
    'error: these runs have no difference to text by category for dkii\n',
  );
});

it.each([
  [{ categories: ['names', 'town'] }, 'plannedContrast.categories expected categories of this file, got "town"'],
  [{ categories: ['names', 'names'] }, 'plannedContrast.categories expected two different categories'],
  [{ metric: 'goldLogProb' }, 'plannedContrast.metric "goldLogProb" is no metric in %'],
  [{ reference: 'dki-blocks' }, 'plannedContrast.reference expected another arm'],
  [{ arm: 'dki-block' }, 'plannedContrast.arm "dki-block" is no arm: did you mean dki-blocks?'],
])('a contrast with %j is refused', async (changes, message) => {
  const ended = await bench(writeData('wrong', { ...contrast, ...changes }), '--out', 'none', '--quiet');
  expect(ended.stderr).toContain(message);
  expect(ended.code).toBe(2);
});

it('a run on data that plan none has no such table', async () => {
  await bench(writeData('none', undefined), '--run', 'none', '--arms', 'rag,dki', '--limit', '3', '--quiet');
  const ended = await host.run('tables', '--table', 'contrast', '--run', 'none');
  expectMistake(ended, 'error: run "none" has no table contrast\n');
});
