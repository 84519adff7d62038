import { beforeAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/compose.ts';
import type { RunResults } from '../../src/store/records/results.ts';
import { comparisonsTables } from '../../src/report/tables/comparisons-table.ts';
import { renderers } from '../../src/report/report-files.ts';
import { reportTables } from '../../src/report/tables/report-tables.ts';
import { renderSummary } from '../../src/report/summary.ts';
import type { Table } from '../../src/render/table.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

const reason = 'random weights';
const arms = ['none', 'rag', 'dki'];

/** The columns of quality, by table. */
const quality: Readonly<Record<'1' | '1b' | 'breakdown', RegExp>> = {
  '1': /^(?:(?:en|zh):)?(?:exactMatch|abstention|taskSuccess)$/,
  '1b': /^(?:wrong-abstention|stale|confused|near-copy|fabricated|off-topic|answered)$/,
  breakdown: /./,
};

let results: RunResults;
let tables: Readonly<Record<'1' | '1b' | 'breakdown', Table>>;

beforeAll(async () => {
  using folder = new TestFolder();
  results = (await runBench(smallConfig(folder, { arms: arms.join(), model: 'random:tiny-llama' })))[0]!;
  tables = Object.fromEntries(reportTables(results)) as typeof tables;
});

/** The cells of a row of Markdown. */
const cellsOf = (line: string): string[] => line.slice(2, -2).split(' | ');

describe('a run on random weights', () => {
  it('gives no number for quality, and says why', () => {
    expect(results.run.unknownQuality).toBe(reason);
    for (const { arm, metrics, breakdown, wrong, funnel } of results.arms) {
      const { ttftMs, totalMs, ...ofAnswers } = metrics;
      expect([arm, ...new Set(Object.values(ofAnswers))]).toEqual([arm, null]);
      expect(breakdown.length).toBeGreaterThan(0);
      for (const part of breakdown) expect(part.metrics).toMatchObject({ exactMatch: null, taskSuccess: null });
      expect([wrong, funnel.answered]).toEqual([null, null]);
      expect([ttftMs!.mean, totalMs!.mean]).toEqual([expect.any(Number), expect.any(Number)]);
    }
    const compared = ['ttft-log-ratio', 'evaluated-tokens', 'ttft-log-ratio-all', 'evaluated-tokens-all'];
    expect(comparisonsTables(results).map(({ id }) => id)).toEqual(compared.map((id) => `comparisons-${id}`));
  });

  it('gives what does not depend on the weights: tokens, times, checks, and the funnel up to the answer', () => {
    const [none, rag, dki] = results.arms;
    expect(dki!.tokens!.evaluated).toBeLessThan(0.5 * rag!.tokens!.evaluated);
    expect(none!.funnel.sequence).toBeLessThan(rag!.funnel.sequence);
    expect(failedChecks(results)).toEqual([]);
    const proven = ['token identity', 'token accounting', 'numerical parity', 'errors'];
    expect(passedChecks(results)).toEqual(expect.arrayContaining(proven));
    const undecided = { status: 'undecided', evidence: 'random weights answer nothing' };
    const expected = ['negative controls', 'isolation'].map((check) => ({ check, ...undecided }));
    expect(results.checks).toEqual(expect.arrayContaining(expected));
  });

  it.each(['1', '1b', 'breakdown'] as const)('says so in every cell of quality of table %s, in all formats', (name) => {
    const table = tables[name];
    const columns = table.blocks.flatMap((block) => block.columns);
    const keys = columns.map(({ key }) => key).filter((key) => quality[name].test(key));
    expect(keys.length).toBeGreaterThanOrEqual(3);

    const [header, ...rows] = renderers.csv(table).trimEnd().split('\r\n');
    const fields = header!.split(',');
    expect(rows.map((row) => row.split(',')[0])).toEqual(arms);
    for (const row of rows.map((line) => line.split(','))) {
      expect(row).toHaveLength(fields.length);
      for (const [index, field] of fields.entries()) {
        if (keys.includes(field)) expect(row[index]).toBe(reason);
        if (keys.includes(field.replace(/\.(?:low|high)$/, '')) && !keys.includes(field)) expect(row[index]).toBe('');
      }
    }

    const { rows: values } = JSON.parse(renderers.json(table)) as { rows: Record<string, unknown>[] };
    for (const row of values) expect(keys.map((key) => row[key])).toEqual(keys.map(() => reason));

    const shown = new Set(columns.filter(({ key }) => keys.includes(key)).map(({ heading }) => heading));
    const markdown = renderers.md(table).split('\n');
    const seen = markdown.flatMap((line, index) => {
      if (!line.startsWith('| arm ')) return [];
      const places = cellsOf(line).flatMap((heading, place) => (shown.has(heading.replace(/, %$/, '')) ? [place] : []));
      return arms.flatMap((_, row) => places.map((place) => cellsOf(markdown[index + 2 + row]!)[place]));
    });
    expect(seen).toEqual(Array(keys.length * arms.length).fill(reason));
    expect(renderers.tex(table).split(reason)).toHaveLength(keys.length * arms.length + 1);
  });

  it('shows no percentage of quality at its end either', () => {
    const text = renderSummary(results, { width: 120, colour: false });
    for (const title of ['Quality', 'By phrasing of the question', 'Wrong answers']) {
      const [, heading, ...rows] = text.slice(text.indexOf(`\n${title}\n`) + 1).split('\n', 2 + arms.length);
      expect(heading).toMatch(/^arm /);
      for (const row of rows) expect(row).toMatch(/^(?:none|rag|dki)(?: +random weights)+$/);
    }
    expect(text).toContain('\n- No quality: random weights.\n');
    const [before = '', checks = ''] = text.split('\nChecks\n');
    const verdicts = before + checks.slice(checks.indexOf('\nVerdict\n'));
    expect(verdicts).not.toMatch(/identical on|kept rag's|lost answers|undecided/);
    expect(text).toContain('Against rag, on cache hits: dki evaluated ');
  });
});
