import { expect, test } from 'vitest';
import { runResults } from '../../../test/fixtures/run-results.ts';
import type { BreakdownPart, Estimate, RunResults } from '../../store/records/results.ts';
import { formatCell } from '../../render/table.ts';
import { breakdownTable } from './breakdown-tables.ts';
import { tableOne } from './table-one.ts';

const share = (mean: number): Estimate => ({ mean, low: mean - 0.1, high: mean + 0.1, n: 160, users: 20 });

function part(value: string, mean: number): BreakdownPart {
  const [exactMatch, tokenF1, taskSuccess] = [share(mean), share(mean + 0.05), share(mean)];
  const metrics = { exactMatch, tokenF1, memoryRecall: null, abstention: null, taskSuccess };
  return { field: 'language', value, n: 160, metrics };
}

const bilingual: RunResults = {
  ...runResults,
  arms: runResults.arms.map((arm) => ({ ...arm, breakdown: [...arm.breakdown, part('en', 0.8), part('zh', 0.2)] })),
};

test('table 1 has the quality of each language beside that of all, with intervals', () => {
  const { blocks, rows } = tableOne(bilingual);
  expect(blocks.slice(0, 4).map(({ title }) => title)).toEqual([
    'Quality',
    'Quality, English',
    'Quality, Chinese',
    'Tokens per turn (mean)',
  ]);
  expect(blocks[2]!.columns.map(({ key }) => key)).toEqual(['zh:exactMatch', 'zh:abstention', 'zh:taskSuccess']);
  const cells = rows.find(({ label }) => label === 'dki')!.cells;
  expect(formatCell(cells['zh:exactMatch'])).toBe('20.0 [10.0, 30.0]');
  expect(formatCell(cells['en:taskSuccess'])).toBe('80.0 [70.0, 90.0]');
  expect(formatCell(cells['zh:abstention'])).toBe('–');
  expect(
    breakdownTable(bilingual)
      .blocks.at(-1)!
      .columns.map(({ key }) => key),
  ).toEqual(['language:en', 'language:zh']);
});

test('random weights have no quality in any language', () => {
  const table = tableOne({ ...bilingual, run: { ...bilingual.run, unknownQuality: 'random weights' } });
  expect(formatCell(table.rows[0]!.cells['zh:exactMatch'])).toBe('random weights');
});

test('a run with one language says nothing of it', () => {
  const arms = runResults.arms.map((arm) => ({ ...arm, breakdown: [...arm.breakdown, part('en', 0.8)] }));
  expect(tableOne({ ...runResults, arms }).blocks.some(({ title }) => title?.startsWith('Quality, '))).toBe(false);
  expect(breakdownTable({ ...runResults, arms }).blocks.map(({ title }) => title)).not.toContain('By language');
});
