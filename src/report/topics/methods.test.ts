import { describe, expect, it } from 'vitest';
import { methodsRun } from '../../../test/fixtures/method-results.ts';
import { runResults } from '../../../test/fixtures/run-results.ts';
import { shown } from '../../../test/fixtures/shown-cells.ts';
import { formatCell } from '../../render/table.ts';
import { reportFigures, shownTables } from '../report-contents.ts';
import { claims, claimsTable, methodsByRankTable, methodsTable } from './methods.ts';

it('the tables of suite methods are 11, 11b and 13; a run that compares no methods has none of them', () => {
  expect(shownTables(methodsRun).map(({ id }) => id)).toEqual(['table-11', 'table-11b', 'table-13']);
  for (const table of [methodsTable, methodsByRankTable, claimsTable]) expect(table(runResults)).toBeUndefined();
});

it('a run of another suite that compares methods has them behind its own tables, and their figure', () => {
  const results = { ...methodsRun, run: { ...methodsRun.run, suite: 'main' } as const };
  expect(shownTables(results).map(({ id }) => id)).toEqual([
    ...shownTables({ ...runResults, arms: methodsRun.arms }).map(({ id }) => id),
    ...['table-11', 'table-11b', 'table-13'],
  ]);
  expect(reportFigures(results).map(({ id }) => id)).toContain('methods');
  expect(reportFigures(methodsRun).map(({ id }) => id)).toEqual(['methods']);
});

describe('table 11', () => {
  const table = methodsTable(methodsRun)!;

  it('has price, quality and the test of each arm', () => {
    expect(shown(table, 'dki-first:.3')).toMatchObject({
      ...{ budget: '.3', bytes: '–', recomputed: '16.0', evaluated: '31.3', firstLayers: '–' },
      ...{ timesQueryOnly: '1.05 [0.95, 1.15]', timesRag: '0.26 [0.24, 0.29]' },
      ...{ exactMatch: '77.2 [67.2, 87.2]', difference: '−20.0 [−30.0, −10.0]', kept: '79.4' },
      ...{ control: 'dki-random:.3', againstRandom: '10.0 [0.0, 20.0]', p: '.004', outcome: 'better' },
    });
    expect(shown(table, 'dki-blocks')).toMatchObject({ bytes: '1024', recomputed: '0.0', kept: '58.8' });
    expect(shown(table, 'rag')).toMatchObject({ timesRag: '–', difference: '–', kept: '100.0' });
    const fast = { delta: Math.log(0.003), low: Math.log(0.002), high: Math.log(0.004) };
    const comparisons = methodsRun.comparisons.map((one) =>
      one.metric === 'ttftLogRatio' ? { ...one, ...fast } : one,
    );
    const ratio = shown(methodsTable({ ...methodsRun, comparisons })!, 'dki')['timesRag'];
    expect(ratio).toBe('0.0030 [0.0020, 0.0040]');
    expect(shown(table, 'rag')).toMatchObject({ control: '–', againstRandom: '–' });
  });

  it('takes the share of RAG over the items that both arms have', () => {
    const estimate = { ...methodsRun.arms[0]!.metrics.exactMatch!, n: 60, mean: 0.9 };
    const arms = methodsRun.arms.map((one) =>
      one.arm === 'dki' ? { ...one, metrics: { ...one.metrics, exactMatch: estimate } } : one,
    );
    const kept = (n: number) => {
      const comparisons = methodsRun.comparisons.map((one) => (one.a === 'dki' ? { ...one, n, delta: 0.1 } : one));
      const results = { ...methodsRun, arms, comparisons };
      const [figure] = reportFigures(results);
      return [shown(methodsTable(results)!, 'dki')['kept'], / dki (\d+ %)/.exec(figure!.description)?.[1]];
    };
    // 90.0 % against 80.0 % on the same 60 items; over all items, rag has another mean.
    expect(kept(60)).toEqual(['112.5', '113 %']);
    expect(kept(59)).toEqual(['–', undefined]);
  });

  it('marks the arms on the frontier: beaten by no deployable arm; a bound does not count as a competitor', () => {
    const onFrontier = table.rows.filter(({ cells }) => formatCell(cells['frontier']) === 'yes');
    expect(onFrontier.map(({ label }) => label)).toEqual(['dki', 'dki-first:.3']);
  });

  it('says which users a winner is chosen on, and which it is reported on', () => {
    const { run } = methodsRun;
    const note = (split?: 'development' | 'test') => {
      const dataset = split === undefined ? run.dataset : { ...run.dataset, split };
      return methodsTable({ ...methodsRun, run: { ...run, dataset } })!.notes.at(-1)!;
    };
    expect(note('development')).toContain('reported on test users');
    expect(note('test')).toContain('chosen on development users');
    expect(note()).toContain('no split');
  });

  it('has a row for an arm that the model could not run', () => {
    const run = { ...methodsRun.run, armsNotRun: [{ arm: 'dki-query:.3', why: 'no queries' }] };
    expect(shown(methodsTable({ ...methodsRun, run })!, 'dki-query:.3')).toEqual({ budget: 'not run: no queries' });
  });
});

it('table 11b has a block for each rank that some evidence has', () => {
  const table = methodsByRankTable(methodsRun)!;
  const titles = ['first', 'later'].map((rank) => `Evidence retrieved ${rank}, 200 items`);
  expect(table.blocks.map(({ title }) => title)).toEqual(titles);
  expect(shown(table, 'dki-blocks')).toMatchObject({ 'first:difference': '−40.0 [−50.0, −30.0]' });
  expect(shown(table, 'rag')).toMatchObject({ 'later:difference': '–' });
});

describe('table 13', () => {
  const rows = claimsTable(methodsRun)!.rows;

  it('has a row for each claim, each with its source', () => {
    expect(rows).toHaveLength(claims.length);
    for (const { cells } of rows)
      expect(formatCell(cells['source'])).toMatch(/^https:\/\/arxiv\.org\/abs\/\d{4}\.\d{5}$/);
  });

  it('sets what the run measures beside it, and says where it measures nothing', () => {
    const here = rows.map(({ label, cells }) => [label, formatCell(cells['here'])]);
    expect(here).toContainEqual(['TurboRAG', 'dki-blocks: 58.8 % of the exact match of rag']);
    expect(here).toContainEqual(['Knowledge Packs', 'dki: 0.0 [−10.0, 10.0] points of exact match']);
    expect(here).toContainEqual(['RAGCache', 'not measured in this run']);
    const first = here.find(([label, text]) => label === 'Block-Attention' && text!.includes('first token'));
    expect(first![1]).toBe(
      'dki-blocks: first token 0.30 [0.27, 0.33] × that of rag; dki-blocks: 58.8 % of the exact match of rag',
    );
  });
});
