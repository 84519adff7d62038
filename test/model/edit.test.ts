import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { editTable } from '../../src/report/topics/edit.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { type EditMeasurement, type EditWay, editWays } from '../../src/store/records/suite-measurements.ts';
import { header, item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { runResults } from '../fixtures/run-results.ts';
import { failedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

const flags = { suite: 'edit', dataset: 'recall-en', users: '5', limit: '10', run: 'edited' };

const says = (rows: readonly EditMeasurement[], wanted: EditWay) =>
  rows.map(({ answers }) => answers.find(({ way }) => way === wanted)!);

it('suite edit answers each question in every way, goes on where it was interrupted, and sees that the value changed', async () => {
  using folder = new TestFolder();
  const broken = runBench(smallConfig(folder, flags), {
    onProgress: ({ phase, done }) => {
      if (phase === 'measure' && done === 3) throw new Error('the display broke');
    },
  });
  await expect(broken).rejects.toThrow('the display broke');
  const steps: string[] = [];
  const [results] = await runBench(smallConfig(folder, { resume: 'edited' }), {
    onProgress: ({ phase, done, total }) => phase === 'measure' && steps.push(`${done} of ${total}`),
  });
  const rows = results!.measured!.edit!;
  expect(failedChecks(results!)).toEqual([]);
  expect(steps.slice(1)).toEqual([4, 5, 6, 7, 8, 9, 10].map((done) => `${done} of 10`));
  expect(new Set(rows.map(({ itemId }) => itemId)).size).toBe(10);
  for (const { answers } of rows) {
    expect(answers.map(({ way }) => way)).toEqual(editWays);
    const tokens = Object.fromEntries(answers.map(({ way, evaluated }) => [way, evaluated!]));
    for (const way of ['append', 'block', 'splice', 'overwrite']) {
      expect(tokens[way]!).toBeGreaterThan(tokens['unchanged']!);
      expect(tokens[way]!).toBeLessThan(tokens['rebuild']!);
    }
  }
  expect(says(rows, 'rebuild').filter((answer) => answer.says === 'new').length).toBeGreaterThan(7);
  expect(says(rows, 'unchanged').filter((answer) => answer.says === 'old').length).toBeGreaterThan(7);
  expect(says(rows, 'splice').every(({ sameAsRebuilt }) => sameAsRebuilt)).toBe(true);
  expect(says(rows, 'overwrite').every(({ sameAsRebuilt }) => sameAsRebuilt)).toBe(false);
  const table = reportTables(results!).get('15')!;
  expect(table.rows.map(({ label }) => label)).toEqual(editWays);
  expect(table.rows.at(-1)!.cells['n']).toMatchObject({ value: 10 });
});

it('suite edit leaves answers out where texts may not be stored, and refuses data in which no value is replaced', async () => {
  using folder = new TestFolder();
  const lines = [
    memory('m1', { value: 'Brenko', content: 'My dog is called Brenko.' }),
    memory('m2', { value: 'Trusa', content: 'My dog is now called Trusa.', supersedes: 'm1' }),
    memory('m3', { content: 'I live in Lyon.' }),
    item('q1', { answer: 'Trusa', evidence: ['m2'], superseded: ['Brenko'] }),
    item('q2', { answer: 'Lyon', evidence: ['m3'], category: 'other' }),
  ];
  const run = (records: readonly object[], run: string) => {
    const dataset = writeLines(folder, records);
    return runBench(smallConfig(folder, { suite: 'edit', dataset, limit: undefined, run }));
  };
  const [results] = await run([header({ texts: 'withheld', note: 'private' }), ...lines], 'withheld');
  const [row, ...more] = results!.measured!.edit!;
  expect(more).toEqual([]);
  expect(row).toMatchObject({ itemId: 'q1', userId: 'u01' });
  expect(row!.answers.some((answer) => 'text' in answer)).toBe(false);
  const plannedContrast = {
    arm: 'dki',
    reference: 'rag',
    categories: ['plain', 'other'],
    metric: 'contains',
    discordance: 0.3,
  };
  const [open] = await run([header({ plannedContrast }), ...lines], 'open');
  expect(open!.measured!.edit![0]!.answers.every(({ text }) => text !== undefined)).toBe(true);
  // No arm is asked, so the run does not plan the contrast of the data.
  expect(open).not.toHaveProperty('contrast');
  await expect(run([header(), ...lines.slice(0, 3), lines[4]!], 'none')).rejects.toMatchObject({
    code: 'bad-data',
    message: 'd: no question asks for a value that a later memory replaces',
  });
});

it('table 15 gives shares of answers, differences to the rebuilt prefix, and tokens by data set', () => {
  const row = (dataset: string, index: number, overwritten: 'new' | 'old' | 'neither'): EditMeasurement => ({
    dataset,
    itemId: `q${index}`,
    userId: `u${index}`,
    value: { before: 2, after: index % 2 === 0 ? 2 : 3, behind: 9 },
    answers: editWays.map((way) => {
      const value = way === 'overwrite' ? overwritten : way === 'unchanged' ? 'old' : 'new';
      return { way, says: value, evaluated: way === 'rebuild' ? 100 : 20 + index, sameAsRebuilt: value === 'new' };
    }),
  });
  const rows = [0, 1, 2, 3, 4, 5, 6, 7].map((index) =>
    row('a', index, index < 2 ? 'new' : index < 4 ? 'old' : 'neither'),
  );
  const { rows: found, notes } = editTable(runResults, [...rows, row('b', 8, 'new')]);
  expect(found.map(({ label }) => label)).toEqual(
    ['a', 'b'].flatMap((name) => editWays.map((way) => `${way}, ${name}`)),
  );
  const { cells } = found.find(({ label }) => label === 'overwrite, a')!;
  const value = (key: string) => cells[key] as { value: number; low: number; high: number };
  expect(['new', 'old', 'neither', 'difference', 'same', 'evaluated', 'n'].map((key) => value(key).value)).toEqual([
    25, 25, 50, -75, 25, 23.5, 8,
  ]);
  expect(value('difference').high).toBeLessThan(0);
  expect(value('new').low).toBeGreaterThan(0);
  expect(found[0]!.cells['difference']).toBeUndefined();
  expect(notes.join(' ')).toContain('In 4 of 9 questions the values have different numbers of tokens');
});
