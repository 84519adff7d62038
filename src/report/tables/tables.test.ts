import { describe, expect, it } from 'vitest';
import { runResults } from '../../../test/fixtures/run-results.ts';
import type { RetrievalMeasurement, RunResults } from '../../records/results.ts';
import { ablationTable } from './ablation-table.ts';
import { comparisonsTables, formatProbability } from './comparisons-table.ts';
import { checksTable } from './checks-table.ts';
import { latencyTable } from './latency-table.ts';
import { retrievalTable } from './retrieval-table.ts';
import { tableBreakdown } from './breakdown-table.ts';
import { tableOne } from './table-one.ts';
import { tableOneB } from './table-one-b.ts';
import { formatCell, formatNumber, type Table } from '../table.ts';
import { verdictSentences } from '../verdict.ts';

const failed: RunResults = {
  ...runResults,
  checks: [
    { check: 'numerical parity', status: 'failed', evidence: 'differs by 0.3' },
    { check: 'isolation', status: 'undecided', evidence: 'no canary users in this data set' },
  ],
};

function shown(table: Table, label: string): Record<string, string> {
  const row = table.rows.find((candidate) => candidate.label === label)!;
  return Object.fromEntries(Object.entries(row.cells).map(([key, cell]) => [key, formatCell(cell)]));
}

describe('table 3', () => {
  it('has a row for an arm that the model could not run, and says why', () => {
    const armsNotRun = [{ arm: 'rag@template=chat', why: 'the model has no chat template' }];
    const run = { ...runResults.run, armsNotRun };
    const table = ablationTable({ ...runResults, run });
    expect(table.rows).toHaveLength(runResults.arms.length + 1);
    expect(shown(table, 'rag@template=chat')).toEqual({ verdict: 'not run: the model has no chat template' });
  });
});

describe('table 1', () => {
  it('shows every estimate with its interval, shares as percentages', () => {
    expect(shown(tableOne(runResults), 'dki')).toEqual({
      exactMatch: '97.2 [95.4, 99.0]',
      abstention: '98.1 [96.6, 99.6]',
      taskSuccess: '97.2 [95.6, 98.8]',
      promptTokens: '31.3',
      kvResidentTokens: '149.0',
      evaluatedTokens: '31.3',
      generatedTokens: '6.5',
      evaluatedTokensMiss: '190.5',
      ttftMs: '9.9 [9.5, 10.3]',
      ttftP50Ms: '9.8',
      ttftP95Ms: '12.9',
      ttftMissMs: '41.0 [40.0, 42.0]',
      hits: '200',
      misses: '120',
      bypasses: '80',
      hitRate: '62.5',
      errors: '0',
    });
  });

  it('shows positions where an arm has fewer of them than cells, and nowhere else', () => {
    const [, dki] = runResults.arms;
    const parallel = { ...dki!, arm: 'dki-parallel', tokens: { ...dki!.tokens!, positions: 80.5 } };
    const table = tableOne({ ...runResults, arms: [...runResults.arms, parallel] });
    expect(table.blocks[1]!.columns.map(({ heading }) => heading)).toContain('positions');
    expect(shown(table, 'dki-parallel')['positions']).toBe('80.5');
    expect(shown(table, 'dki')['positions']).toBeUndefined();
    expect(tableOne(runResults).blocks[1]!.columns.map(({ heading }) => heading)).not.toContain('positions');
  });

  it('shows no quality of random weights, and their cost all the same', () => {
    const run = { ...runResults.run, unknownQuality: 'random weights' };
    expect(shown(tableOne({ ...runResults, run }), 'dki')).toMatchObject({
      exactMatch: 'random weights',
      taskSuccess: 'random weights',
      evaluatedTokens: '31.3',
    });
    const unknown = { ...runResults, run };
    expect(shown(tableOneB(unknown), 'dki')).toMatchObject({
      stale: 'random weights',
      stored: '320',
      answered: 'random weights',
    });
    expect(shown(tableBreakdown(unknown), 'dki')['category:stated']).toBe('random weights');
    expect(verdictSentences(unknown)[0]).toBe('No quality: random weights.');
  });

  it('shows no number where nothing was measured', () => {
    const [arm] = runResults.arms;
    const nothing = {
      ...arm!,
      n: 0,
      errors: 400,
      tokens: null,
      metrics: { ...arm!.metrics, exactMatch: null, ttftMs: null },
    };
    const cells = shown(tableOne({ ...runResults, arms: [nothing] }), 'rag');
    expect(cells).toMatchObject({ exactMatch: '–', evaluatedTokens: '–', ttftMs: '–', ttftP95Ms: '–', errors: '400' });
  });

  it('is marked where a check failed or the run did not end', () => {
    expect(tableOne(runResults).caption).not.toContain('NOT');
    expect(tableOne(failed).caption).toContain('NOT PROVEN: check numerical parity failed');
    const interrupted = { ...runResults, run: { ...runResults.run, status: 'interrupted' as const } };
    expect(tableOneB(interrupted).caption).toContain('NOT COMPLETE: the run was interrupted');
  });

  it('counts errors by class and the evidence funnel in table 1b', () => {
    const cells = shown(tableOneB(runResults), 'rag');
    expect(cells).toMatchObject({ 'wrong-abstention': '3', fabricated: '4', stored: '320', answered: '310' });
  });

  it('breaks down by what the data has, and by nothing else', () => {
    const table = tableBreakdown(runResults);
    expect(table.blocks.map(({ title }) => title)).toEqual(['By kind of user', 'By category']);
    expect(shown(table, 'rag')['userKind:large']).toBe('92.2 [89.2, 95.2]');
  });
});

describe('table 7', () => {
  it('says where each strategy recalls more than the router, and where none of its intervals does', () => {
    const measured = (strategy: string, kind: string, low: number | null): RetrievalMeasurement => ({
      ...{ strategy, kind, n: 4, budgetTokens: null },
      metrics: { recallAt1: null, recallAt5: null, recallAt10: null, mrr: null, ndcgAt10: null },
      againstRouter: low === null ? null : { delta: 0.2, low, high: 0.4, p: 0.01 },
      timingsMs: { embedding: 0, search: 0, ranking: 0, total: 0 },
    });
    const rows = ['all', 'recent'].flatMap((kind, place) => [
      measured('router', kind, null),
      measured('salience', kind, 0.1),
      measured('tiered', kind, place / 8),
      measured('hinted', kind, 0),
    ]);
    const table = retrievalTable(runResults, { users: 2, memories: 9, rows, stats: {} });
    expect(table.notes.join(' ')).toContain(
      'above zero: salience on all questions together, recent; tiered on recent; hinted on none.',
    );
  });
});

describe('table 5', () => {
  it('shows what an arm built before the turns in columns of their own, and only then', () => {
    const [, dki] = runResults.arms;
    const ahead = { ...dki!, arm: 'dki-blocks+ahead', ahead: { tokens: 190.25, ms: 12.5 } };
    const table = latencyTable({ ...runResults, arms: [dki!, ahead] });
    expect(shown(table, 'dki-blocks+ahead')).toMatchObject({ aheadTokens: '190.3', aheadMs: '12.5' });
    expect(shown(table, 'dki')).not.toHaveProperty('aheadTokens');
    expect(table.blocks.at(-1)!.title).toBe('Built before the turns, a turn');
    expect(latencyTable(runResults).blocks.map(({ title }) => title)).not.toContain('Built before the turns, a turn');
  });
});

describe('comparisons and checks', () => {
  it('gives differences in the unit of the metric', () => {
    const [exactMatch, ttft, tokens] = comparisonsTables(runResults);
    expect(shown(exactMatch!, 'dki : rag')).toMatchObject({
      p: '1.000',
      pAdjusted: '1.000',
      verdict: 'identical on 320 of 320',
    });
    expect(shown(exactMatch!, 'dki-wrong : rag')).toMatchObject({
      difference: '−96.8 [−98.0, −95.0]',
      p: '<.001',
      pAdjusted: '<.001',
      losses: '310',
      verdict: 'lost',
    });
    expect(shown(ttft!, 'dki : rag')).toMatchObject({ difference: '41.0 [40.0, 42.0]', verdict: 'faster' });
    expect(shown(tokens!, 'dki : rag')).toMatchObject({ difference: '−150.1 [−152.0, −148.0]' });
  });

  it('lists the checks that are undecided with the reason', () => {
    const table = checksTable(failed);
    expect(shown(table, 'numerical parity')).toEqual({ status: '✗', evidence: 'differs by 0.3' });
    expect(shown(table, 'isolation')).toEqual({
      status: '–',
      evidence: 'undecided: no canary users in this data set',
    });
  });

  it('writes numbers as people do', () => {
    expect(formatNumber(-0.04, 1)).toBe('0.0');
    expect(formatNumber(-1.25, 2)).toBe('−1.25');
    expect(formatProbability(0.0321)).toBe('.032');
  });
});

describe('the verdict', () => {
  it('says who kept what, what was saved, and what it does not mean', () => {
    expect(verdictSentences(runResults)).toEqual([
      'Bit-identical to rag: dki on 320 of 320 items; lost answers: dki-wrong (−96.8 points [−98.0, −95.0]).',
      'On cache hits dki evaluated 31.3 tokens, rag 181.3 (−83 %); a cache miss cost 190.5 (120 of 320 turns).',
      "On cache hits the first token came after 9.9 ms against 24.2 ms: 0.41 [0.40, 0.42] of rag's time, faster.",
      'This holds for recall-base-f16, a model of 1.5 million parameters, on recall-en, 40 users; ' +
        'it does not show that larger models or other domains behave alike.',
    ]);
  });

  it('sets dki beside rag-cached, its fair opponent, and leaves controls out of who kept what', () => {
    const [rag] = runResults.arms;
    const traits = { ...rag!.traits, name: 'rag-cached', comparison: 'planned' } as const;
    const cached = { ...rag!, arm: 'rag-cached', traits };
    const comparisons = runResults.comparisons.map((comparison) =>
      comparison.a === 'dki-wrong' ? { ...comparison, pAdjusted: null } : comparison,
    );
    const sentences = verdictSentences({ ...runResults, arms: [...runResults.arms, cached], comparisons });
    expect(sentences[0]).toBe('Bit-identical to rag: dki on 320 of 320 items.');
    expect(sentences[2]).toContain('faster; rag-cached, which keeps its prefixes too, took 24.2 ms.');
  });

  it('opens with what is not proven', () => {
    expect(verdictSentences(failed)[0]).toBe('NOT PROVEN: check numerical parity failed. Do not quote these numbers.');
  });

  it('claims no saving where there was no cache hit', () => {
    const arms = runResults.arms.map((arm) => ({ ...arm, turns: { hit: 0, miss: 320, bypass: 80 } }));
    const text = verdictSentences({ ...runResults, arms }).join(' ');
    expect(text).toContain('No cache hits in this run: savings were not measured.');
    expect(text).not.toContain('evaluated');
  });
});
