import { describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { comparisonsTables } from '../../src/report/tables/arm-comparisons-tables.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { renderSummary } from '../../src/report/terminal-summary.ts';
import { formatCell, type Table } from '../../src/render/table.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, passedChecks, smallConfig } from './bench-fixture.ts';

const reason = 'random weights';
const arms = ['none', 'rag', 'dki'];

/** The columns of quality, by table. */
const quality: Readonly<Record<'1' | '1b' | 'breakdown', RegExp>> = {
  '1': /^(?:(?:en|zh):)?(?:exactMatch|abstention|taskSuccess)$/,
  '1b': /^(?:wrong-abstention|superseded|confused|near-copy|fabricated|off-topic|answered)$/,
  breakdown: /./,
};

const config = smallConfig(temporaryFolder(), { arms: arms.join(), model: 'random:tiny-llama' });
const [results] = (await runBench(config)) as [RunResults];
const tables = Object.fromEntries(reportTables(results)) as Readonly<Record<keyof typeof quality, Table>>;

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

  it.each(['1', '1b', 'breakdown'] as const)('says so in every cell of quality of table %s', (name) => {
    const { blocks, rows } = tables[name];
    const keys = blocks
      .flatMap(({ columns }) => columns.map(({ key }) => key))
      .filter((key) => quality[name].test(key));
    expect(keys.length).toBeGreaterThanOrEqual(3);
    expect(rows.map(({ label }) => label)).toEqual(arms);
    for (const { cells } of rows) expect(keys.map((key) => formatCell(cells[key]))).toEqual(keys.map(() => reason));
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
    expect(verdicts).not.toMatch(/same answers|within the margin|loses|undecided/);
    expect(text).toContain('Against rag, on cache hits: dki evaluated ');
  });
});
