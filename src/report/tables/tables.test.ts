import { describe, expect, it, test } from 'vitest';
import { runResults } from '../../../test/fixtures/run-results.ts';
import { shown } from '../../../test/fixtures/shown-cells.ts';
import type { BreakdownPart, RunResults } from '../../store/records/run-results.ts';
import type { RetrievalMeasurement } from '../../store/records/suite-measurements.ts';
import { comparisonsTables } from './arm-comparisons-tables.ts';
import { latencyTable } from '../topics/times.ts';
import { servingTable } from '../topics/storage-isolation-serving.ts';
import { ablationTable, placementTable } from '../topics/ablation.ts';
import { datasetRetrievalTable, retrievalTable } from '../topics/retrieval.ts';
import { breakdownTable, byRetrievalTable, categoryTable } from '../topics/categories.ts';
import { checksTable, shownTables } from '../report-contents.ts';
import { armResultsTable } from './arm-results-table.ts';
import { judgeTable, wrongAnswersTable } from './answer-grading-tables.ts';
import { type Table } from '../../render/table.ts';
import { formatNumber, formatProbability } from '../../render/format-number.ts';
import { verdictSentences } from '../verdict-sentences.ts';

const withRun = (run: Partial<RunResults['run']>): RunResults => ({
  ...runResults,
  run: { ...runResults.run, ...run },
});

const columnHeadings = ({ blocks }: Table): string[] =>
  blocks.flatMap(({ columns }) => columns.map(({ heading }) => heading));

const failed: RunResults = {
  ...runResults,
  checks: [
    { check: 'token identity', status: 'passed', evidence: '480 turns', detects: '1 id of 480' },
    { check: 'numerical parity', status: 'failed', evidence: 'differs by 0.3' },
    { check: 'isolation', status: 'undecided', evidence: 'no canary users in this data set' },
  ],
};

test('table 12 has shares of the answered turns', () => {
  const load = { arm: 'dki', offered: 2, turns: 10, errors: 2, answered: 1, ttftMs: { p50: 9 }, saturated: false };
  const costs = { evaluatedTokens: 4, reusedTokens: 0, movedBytes: 0, hits: 4, sameAsText: 8, meter: null };
  const serving = { sessions: 1, conversations: 2, recurrence: 0, capacity: {}, loads: [{ ...load, ...costs }] };
  expect(shown(servingTable(runResults, serving), 'dki')).toMatchObject({ hits: '50.0', same: '100.0', errors: '2' });
});

describe('tables 3 and 3b', () => {
  it('have a row for an arm that the model could not run, and say what their settings change', () => {
    const results = withRun({ armsNotRun: [{ arm: 'rag@template=chat', why: 'the model has no chat template' }] });
    const [parts, placement] = [ablationTable(results), placementTable(results)];
    expect(parts.rows).toHaveLength(runResults.arms.length + 1);
    expect(shown(parts, 'rag@template=chat')).toEqual({ verdict: 'not run: the model has no chat template' });
    expect(placement).toMatchObject({ id: 'table-3b', blocks: parts.blocks, rows: parts.rows });
    expect(placement.notes.join(' ')).toContain('APE without its scale');
  });

  it('do not call costs those of hits if no arm divides turns into hits and misses', () => {
    const headings = (arms: RunResults['arms']) => columnHeadings(placementTable({ ...runResults, arms }));
    const divided = ['tokens evaluated (cache hits)', 'tokens evaluated (cache misses)'];
    expect(headings(runResults.arms)).toEqual(expect.arrayContaining(divided));
    const undivided = headings(runResults.arms.filter(({ traits }) => traits.comparison !== 'primary'));
    expect(undivided).toEqual(expect.arrayContaining(['tokens evaluated', 'TTFT (ms)']));
    expect(undivided.filter((heading) => heading.includes('cache'))).toEqual([]);
  });
});

describe('table 1', () => {
  it('says that times are under load, and of several kinds of machine', () => {
    expect(armResultsTable(withRun({ workers: 4 })).notes[0]).toMatch(
      /^Times were measured under load, with 4 workers at once/,
    );
    expect(armResultsTable(runResults).notes.join(' ')).not.toContain('under load');
    const kind = { platform: 'linux-x64', cores: 8, threads: 1, engine: 'e', build: {}, turns: 1 };
    const machines = Object.entries({ old: 30, new: 10 }).map(([cpu, users]) => ({ ...kind, cpu, users }));
    expect(armResultsTable(withRun({ machines })).notes[0]).toBe(
      'Turns ran on 2 kinds of machine (old, 8 cores: 30 users; new, 8 cores: 10 users); the turns of a user ran on one machine.',
    );
  });

  it('shows every estimate with its interval, shares as percentages', () => {
    expect(shown(armResultsTable(runResults), 'dki')).toEqual({
      exactMatch: '97.2 [95.4, 99.0]',
      abstention: '98.1 [96.6, 99.6]',
      taskSuccess: '97.2 [95.6, 98.8]',
      ...{ promptTokens: '31.3', kvResidentTokens: '149.0', evaluatedTokens: '31.3', generatedTokens: '6.5' },
      ...{ evaluatedTokensMiss: '190.5', evaluatedTokensAll: '190.5' },
      ...{ ttftMs: '9.9 [9.5, 10.3]', ttftP50Ms: '9.8', ttftP95Ms: '12.9' },
      ...{ ttftMissMs: '41.0 [40.0, 42.0]', ttftAllMs: '41.0 [40.0, 42.0]' },
      ...{ hits: '200', misses: '120', bypasses: '80', hitRate: '62.5', errors: '0' },
    });
  });

  it('states the task success of an arm that declines everything', () => {
    expect(armResultsTable(runResults).notes).toContain(
      'Task success counts a declined absent item as right: an arm that declines every question has 20.0 %.',
    );
    const answerable = runResults.arms.map((arm) => ({ ...arm, metrics: { ...arm.metrics, abstention: null } }));
    expect(armResultsTable({ ...runResults, arms: answerable }).notes.join(' ')).not.toContain(
      'declines every question',
    );
  });

  it('shows positions where an arm has fewer of them than cells, and nowhere else', () => {
    const [, dki] = runResults.arms;
    const parallel = { ...dki!, arm: 'dki-parallel', tokens: { ...dki!.tokens!, positions: 80.5 } };
    const table = armResultsTable({ ...runResults, arms: [...runResults.arms, parallel] });
    expect(columnHeadings(table)).toContain('positions');
    expect([shown(table, 'dki-parallel')['positions'], shown(table, 'dki')['positions']]).toEqual(['80.5', '–']);
    expect(columnHeadings(armResultsTable(runResults))).not.toContain('positions');
  });

  it('shows no quality of random weights, and their cost all the same', () => {
    const why = 'random weights';
    const unknown = withRun({ unknownQuality: why });
    const cells = { exactMatch: why, taskSuccess: why, evaluatedTokens: '31.3' };
    expect(shown(armResultsTable(unknown), 'dki')).toMatchObject(cells);
    expect(shown(wrongAnswersTable(unknown), 'dki')).toMatchObject({ superseded: why, stored: '320', answered: why });
    expect(shown(breakdownTable(unknown), 'dki')['category:stated']).toBe('random weights');
    expect(verdictSentences(unknown)).toContain('No quality: random weights.');
  });

  it('shows no number where nothing was measured', () => {
    const [arm] = runResults.arms;
    const metrics = { ...arm!.metrics, exactMatch: null, ttftMs: null };
    const nothing = { ...arm!, n: 0, errors: 400, tokens: null, metrics };
    const cells = shown(armResultsTable({ ...runResults, arms: [nothing] }), 'rag');
    expect(cells).toMatchObject({ exactMatch: '–', evaluatedTokens: '–', ttftMs: '–', ttftP95Ms: '–', errors: '400' });
  });

  it('is marked where a check failed or the run did not end', () => {
    expect(armResultsTable(runResults).caption).not.toContain('NOT');
    expect(armResultsTable(failed).caption).toContain('NOT PROVEN: check numerical parity failed');
    const { caption } = wrongAnswersTable(withRun({ status: 'interrupted' }));
    expect(caption).toContain('NOT COMPLETE: the run was interrupted');
  });

  it('has errors by class and the funnel in table 1b, and a breakdown by what the data has', () => {
    const cells = shown(wrongAnswersTable(runResults), 'rag');
    expect(cells).toMatchObject({ 'wrong-abstention': '3', fabricated: '4', stored: '320', answered: '310' });
    const table = breakdownTable(runResults);
    expect(table.blocks.map(({ title }) => title)).toEqual(['By kind of user', 'By category (exploratory)']);
    expect(shown(table, 'rag')['userKind:large']).toBe('92.2 [89.2, 95.2]');
  });
});

describe('table 7', () => {
  const measured = (strategy: string, kind: string, low: number | null): RetrievalMeasurement => ({
    ...{ strategy, kind, n: 4, budgetTokens: null },
    metrics: { recallAt1: null, recallAt5: null, recallAt10: null, mrr: null, ndcgAt10: null },
    againstRouter: low === null ? null : { delta: low + 0.1, low, high: low + 0.2, p: 0.01 },
    timingsMs: { embedding: 0, search: 0, ranking: 0, total: 0 },
  });

  it('says where each strategy recalls more than the router, where less, and where no interval says so', () => {
    const rows = ['all', 'recent'].flatMap((kind, place) =>
      Object.entries({ router: null, salience: 0.1, tiered: place / 8, hinted: 0, given: -0.3 }).map(
        ([strategy, low]) => measured(strategy, kind, low),
      ),
    );
    const retrieval = { users: 2, memories: 9, rows, stats: {} };
    expect(retrievalTable(runResults, retrieval).notes.join(' ')).toContain(
      'above zero: salience on all questions together, recent; tiered on recent; hinted on none; given on none. Below' +
        " the router's, with the whole interval below zero: salience on none; tiered on none; hinted on none; given on all questions together, recent.",
    );
    expect(datasetRetrievalTable(runResults, retrieval)).toBeUndefined();
  });

  it('has the questions of data sets in a table of their own, with the embedder of each row', () => {
    const shipped = { embedder: 'embed-en-zh' };
    const other = { ...measured('router, embed-en-zh', 'plain', -0.3), ...shipped };
    const of = (dataset: string) => [measured('router', 'plain', null), other].map((row) => ({ ...row, dataset }));
    const described = (name: string) => ({ name, users: 2, memories: 30, questions: 4, leftOut: 1 });
    const retrieval = { users: 2, memories: 9, stats: {}, rows: [measured('router', 'all', null), ...of('a')] };
    expect(retrievalTable(runResults, retrieval).rows.map(({ label }) => label)).toEqual(['router, all']);
    const table = datasetRetrievalTable(runResults, { ...retrieval, datasets: [described('a')] })!;
    expect(table.caption).toContain('Table 7b. Recall on the questions of a, by category');
    expect(shown(table, 'router, embed-en-zh, plain')).toMatchObject({ n: '4', delta: '−20.0 [−30.0, −10.0]' });
    const notes = table.notes.join(' ');
    for (const note of [
      'a: 4 questions of 2 users with 30 memories in all; 1 items that name no evidence are left out.',
      `"router, embed-en-zh" is the router on vectors of embed-en-zh, the embedder that ships; all other strategies use ${runResults.run.embedder.name}.`,
      'with the whole interval below zero: router, embed-en-zh on plain.',
    ])
      expect(notes).toContain(note);
    const both = { ...retrieval, rows: [...of('a'), ...of('b')], datasets: [described('a'), described('b')] };
    const labels = ['a', 'b'].flatMap((name) => [`router, ${name}: plain`, `router, embed-en-zh, ${name}: plain`]);
    expect(datasetRetrievalTable(runResults, both)!.rows.map(({ label }) => label)).toEqual(labels);
  });
});

describe('table 5', () => {
  it('does not call times those of hits if no arm divides turns into hits and misses', () => {
    const arms = runResults.arms.filter(({ traits }) => traits.comparison !== 'primary');
    const { blocks, notes } = latencyTable({ ...runResults, arms });
    expect(blocks.map(({ title }) => title)).toEqual(['All turns']);
    expect(notes[0]).toBe('Times are over all turns: without dki in the run there are no cache hits or misses.');
  });

  it('shows what an arm built before the turns in columns of their own, and only then', () => {
    const [, dki] = runResults.arms;
    const ahead = { ...dki!, arm: 'dki-blocks@built=ahead', ahead: { tokens: 190.25, ms: 12.5 } };
    const table = latencyTable({ ...runResults, arms: [dki!, ahead] });
    expect(shown(table, 'dki-blocks@built=ahead')).toMatchObject({ aheadTokens: '190.3', aheadMs: '12.5' });
    expect(shown(table, 'dki')).toMatchObject({ aheadTokens: '–' });
    expect(table.blocks.at(-1)!.title).toBe('Built before the turns, per turn');
    expect(latencyTable(runResults).blocks.map(({ title }) => title)).not.toContain('Built before the turns, per turn');
  });
});

describe('comparisons and checks', () => {
  it('gives differences in the unit of the metric', () => {
    const [exactMatch, ttft, tokens] = comparisonsTables(runResults);
    const same = { p: '1.000', pAdjusted: '1.000', verdict: 'identical on 320 of 320' };
    expect(shown(exactMatch!, 'dki : rag')).toMatchObject(same);
    const lost = { p: '<.001', pAdjusted: '<.001', losses: '310', verdict: 'lost' };
    expect(shown(exactMatch!, 'dki-wrong : rag')).toMatchObject({ ...lost, difference: '−96.8 [−98.0, −95.0]' });
    expect(shown(ttft!, 'dki : rag')).toMatchObject({ difference: '41.0 [40.0, 42.0]', verdict: 'faster' });
    expect(shown(tokens!, 'dki : rag')).toMatchObject({ difference: '−150.1 [−152.0, −148.0]' });
  });

  it('lists the checks that are undecided with the reason', () => {
    const table = checksTable(failed);
    expect(shown(table, 'token identity')).toMatchObject({ evidence: '480 turns; would have seen 1 id of 480' });
    expect(shown(table, 'numerical parity')).toEqual({ status: '✗', evidence: 'differs by 0.3' });
    const evidence = 'undecided: no canary users in this data set';
    expect(shown(table, 'isolation')).toEqual({ status: '–', evidence });
  });

  it('writes numbers as people do', () => {
    expect(formatNumber(-0.04, 1)).toBe('0.0');
    expect(formatNumber(-1.25, 2)).toBe('−1.25');
    expect(formatProbability(0.0321)).toBe('.032');
  });
});

describe('the verdict', () => {
  it('reports the quality kept, the savings, and the scope', () => {
    expect(verdictSentences(runResults)).toEqual([
      'Against rag, on cache hits: dki evaluated 31.3 tokens per turn, rag 181.3; ' +
        'its first token took 0.41 [0.40, 0.42] of the time, 9.8 ms against 24.0 ms (faster).',
      'A cache miss of dki evaluates 190.5 tokens (120 of 320 turns with memories).',
      'Against rag: dki gives the same answers bit by bit on 320 of 320 items; dki-wrong loses 96.8 [95.0, 98.0] points of exact match.',
      'Unproven: isolation (no canary users in this data set).',
      'This holds for recall-base-f16, 1.5 million parameters, on recall-en, 40 users; ' +
        'it does not show that larger models or other domains behave alike.',
    ]);
  });

  it('begins with savings against prefix caching: on hits, over all turns, and the break-even', () => {
    const [rag] = runResults.arms;
    const traits = { ...rag!.traits, name: 'rag-cached', comparison: 'planned' } as const;
    const cached = { ...rag!, arm: 'rag-cached', traits };
    const beside = runResults.comparisons
      .filter(({ metric }) => metric !== 'exactMatch')
      .flatMap((one) => [
        { ...one, b: 'rag-cached', verdict: 'within A/A noise' as const },
        { ...one, b: 'rag-cached', metric: `${one.metric}All`, verdict: 'not judged' as const },
      ]);
    const times = { missMs: 40, hitMs: 10, textMissMs: 39, textHitMs: 10 };
    const sentences = verdictSentences({
      ...runResults,
      arms: [...runResults.arms, cached],
      comparisons: [...runResults.comparisons, ...beside],
      breakEven: [{ arm: 'dki', against: 'rag-cached', ...times, turn: null, low: 8, high: null }],
    });
    expect(sentences.slice(0, 4)).toEqual([
      'Against rag-cached, on cache hits: dki evaluated 31.3 tokens per turn, rag-cached 181.3 (within A/A noise); its first ' +
        'token took 0.41 [0.40, 0.42] of the time, 9.8 ms against 24.0 ms (no more than rag and its twin differ).',
      'Over all turns (hit rate 63 %): dki evaluated 31.3 tokens per turn, rag-cached 181.3; its first ' +
        'token took 0.41 [0.40, 0.42] of the time, 9.8 ms against 24.0 ms.',
      'Break-even against rag-cached: never [8, never].',
      expect.stringContaining('Against rag, on cache hits: '),
    ]);
  });

  it('leaves out unplanned comparisons, and gives the reason if there is no verdict', () => {
    const comparisons = runResults.comparisons.map((one) =>
      one.a === 'dki-wrong' ? { ...one, pAdjusted: null } : { ...one, verdict: 'too few users' as const },
    );
    const of = (users: number) =>
      verdictSentences({ ...withRun({ dataset: { ...runResults.run.dataset, users } }), comparisons });
    expect(of(8)).toContain(
      'Against rag: dki differs by 0.0 [0.0, 0.0] points of exact match, too few users for a verdict.',
    );
    expect(of(8)).toContain('No verdict: 8 users; fewer than 10 do not represent others.');
    expect(of(1)).toContain(
      'No verdict: with one user, intervals are over its questions and do not hold for other users.',
    );
    expect(of(1).at(-1)).toContain('on recall-en, one user, so it does not hold for others;');
  });

  it('divides cache hits by kind of user, with their costs in table 1d', () => {
    const [rag, dki] = runResults.arms;
    const part = { users: 20, usersWithHits: 15, turns: 150, hits: 126, costHit: dki!.costHit, costAll: dki!.costAll };
    const selection = { ...part, kind: 'selection' as const, usersWithHits: 2, hits: 3 };
    const byRetrieval = [{ ...part, kind: 'everything' as const }, selection];
    const results = { ...runResults, arms: [rag!, dki!].map((arm) => ({ ...arm, byRetrieval })) };
    const sentence = '126 of 129 cache hits of dki are of users whose memories were all retrieved.';
    expect(verdictSentences(results)).toContain(sentence);
    const table = byRetrievalTable(results)!;
    expect(shown(table, 'dki')).toMatchObject({ 'everything:hitRate': '84.0', 'selection:hits': '3' });
    expect(table.notes[1]).toBe(
      'Users with a selection of memories retrieved: 20, 2 of them with cache hits, 3 in all.',
    );
    expect(byRetrievalTable(runResults)).toBeUndefined();
    expect(shownTables(results).map(({ id }) => id)).toContain('table-1d');
  });

  it('begins with failed checks, and claims no savings without a cache hit', () => {
    expect(verdictSentences(failed)[0]).toBe('NOT PROVEN: check numerical parity failed. Do not quote these numbers.');
    const arms = runResults.arms.map((arm) => ({ ...arm, turns: { hit: 0, miss: 320, bypass: 80 } }));
    const text = verdictSentences({ ...runResults, arms }).join(' ');
    expect(text).toContain('No cache hits in this run: savings were not measured.');
    expect(text).not.toContain('evaluated');
  });
});

describe('a run whose data name their metric', () => {
  const estimate = (mean: number, half: number) => ({ mean, low: mean - half, high: mean + half, n: 320, users: 40 });
  const value = (mean: number) => estimate(mean, 0.02);
  const nats = (mean: number) => estimate(mean, 0.1);
  const difference = { against: 'rag', delta: -0.1, low: -0.2, high: 0, n: 60, users: 40, wins: 1, losses: 7 };
  const [rag, dki] = runResults.arms;
  const part = (category: string, compared: boolean) => ({
    ...{ field: 'category' as const, value: category, n: 60 },
    metrics: { exactMatch: null, taskSuccess: { ...value(0.8), n: 60 } },
    ...(compared ? { difference } : {}),
  });
  const named: RunResults = {
    ...runResults,
    run: { ...runResults.run, dataset: { ...runResults.run.dataset, primaryMetric: 'contains' } },
    arms: [
      {
        ...rag!,
        metrics: { ...rag!.metrics, contains: value(0.9), goldLogProb: nats(-0.5) },
        breakdown: [part('plain', false), part('absent', false)],
      },
      {
        ...dki!,
        metrics: { ...dki!.metrics, contains: value(0.8), goldLogProb: nats(-1.25), goldKl: nats(0.125) },
        breakdown: [part('plain', true), part('absent', true)],
        fidelity: { against: 'rag', sameAnswer: value(0.7), n: 320, lost: 40, won: 8 },
      },
    ],
    comparisons: [
      { ...runResults.comparisons[0]!, metric: 'contains', delta: -0.1, low: -0.12, high: -0.08, verdict: 'lost' },
      { ...runResults.comparisons[0]!, metric: 'goldLogProb', delta: -0.75, low: -0.9, high: -0.6, verdict: 'lost' },
    ],
  };

  it('has it first in table 1, and beside it how near each arm is to the text', () => {
    const table = armResultsTable(named);
    expect(table.blocks[0]!.columns[0]).toMatchObject({ key: 'contains', heading: 'contains (%)' });
    const nats = 'gold answer (nats per token), Δ vs RAG (nats), KL over the gold (nats)';
    const headings = table.blocks[1]!.columns.map(({ heading }) => heading).join(', ');
    expect(headings).toBe(`${nats}, same answer (%), right → wrong, wrong → right`);
    expect(shown(table, 'dki')).toMatchObject({
      contains: '80.0 [78.0, 82.0]',
      goldLogProb: '−1.250 [−1.350, −1.150]',
      goldDifference: '−0.750 [−0.900, −0.600]',
      goldKl: '0.125 [0.025, 0.225]',
      ...{ sameAnswer: '70.0 [68.0, 72.0]', lost: '40', won: '8' },
    });
    expect(shown(table, 'rag')).toMatchObject({ goldDifference: '–', sameAnswer: '–', lost: '–' });
    expect(armResultsTable(runResults).blocks.map(({ title }) => title)).not.toContain('Against the text of rag');
    expect(table.notes.join(' ')).toContain('Contains is over answerable items');
  });

  it('shows superseded answers beside the scores, where items have superseded values', () => {
    expect(columnHeadings(armResultsTable(named))).not.toContain('superseded (%)');
    expect(columnHeadings(categoryTable(named)!)).not.toContain('superseded (%)');
    const [first, second] = named.arms;
    const [plain, absent] = second!.breakdown;
    const superseded = { ...value(0.25), n: 60 };
    const updated = { ...plain!, metrics: { ...plain!.metrics, superseded } };
    const arm = { ...second!, metrics: { ...second!.metrics, superseded }, breakdown: [updated, absent!] };
    const some = { ...named, arms: [first!, arm] };
    const cell = '25.0 [23.0, 27.0]';
    expect(shown(armResultsTable(some), 'dki')['superseded']).toBe(cell);
    expect(armResultsTable(some).notes.join(' ')).toContain('Superseded: the share of answers');
    expect(shown(categoryTable(some)!, 'dki')).toMatchObject({ 'category:plain:superseded': cell });
    expect(shown(categoryTable(some)!, 'rag')).toMatchObject({ 'category:plain:superseded': '–' });
    expect(shown(breakdownTable(some), 'dki')).toMatchObject({ 'category:plain:superseded': cell });
    expect(columnHeadings(categoryTable(some)!).filter((heading) => heading === 'superseded (%)')).toHaveLength(1);
  });

  it('has a table by category with the difference to the text, and verdicts on its metric', () => {
    expect(categoryTable(runResults)).toBeUndefined();
    const table = categoryTable(named)!;
    expect(table.blocks.map(({ title }) => title)).toEqual(['plain, 60 items', 'absent, 60 items']);
    const cells = { 'plain:success': '80.0 [78.0, 82.0]', 'plain:difference': '−10.0 [−20.0, 0.0]' };
    expect(shown(table, 'dki')).toMatchObject(cells);
    expect(shown(table, 'rag')).toMatchObject({ 'plain:difference': '–' });
    expect(shownTables(named).map(({ id }) => id)).toEqual(['table-1', 'table-1b', 'table-1c']);
    expect(shownTables(runResults).map(({ id }) => id)).toEqual(['table-1', 'table-1b']);
    const lost = verdictSentences(named).join(' ');
    expect(lost).toContain('Against rag: dki loses 10.0 [8.0, 12.0] points of contains');
    expect(comparisonsTables(named).map(({ id }) => id)).toEqual(['comparisons-contains', 'comparisons-gold-log-prob']);
    expect(shown(comparisonsTables(named)[1]!, 'dki : rag')).toMatchObject({ difference: '−0.750 [−0.900, −0.600]' });
    expect(columnHeadings(comparisonsTables(named)[0]!)).not.toContain('mid-p');
    const [contains, gold] = named.comparisons;
    const tested = { ...named, comparisons: [{ ...contains!, mcnemar: { exact: 18 / 256, midP: 10 / 256 } }, gold!] };
    const [byContains, byGold] = comparisonsTables(tested);
    expect(shown(byContains!, 'dki : rag')).toMatchObject({ mcnemar: '.070', midP: '.039' });
    expect(byContains!.notes.join(' ')).toContain("McNemar's test takes items as independent");
    expect(columnHeadings(byGold!)).not.toContain('McNemar');
  });

  it('is judged in nats where that is its metric', () => {
    const inNats = { ...named, run: { ...named.run, dataset: { ...named.run.dataset, primaryMetric: 'goldLogProb' } } };
    expect(verdictSentences(inNats).join(' ')).toContain('dki loses 0.750 [0.600, 0.900] nats of gold answer');
    expect(armResultsTable(inNats).blocks[0]!.columns[0]).toMatchObject({
      key: 'goldLogProb',
      heading: 'gold answer (nats)',
    });
  });
});

describe('a run with a judge', () => {
  const judge = { name: 'judge', label: 'judge', kind: 'binary', unit: '%', direction: 'higher', margin: 2 } as const;
  const accepted = { mean: 0.9, low: 0.85, high: 0.95, n: 318, users: 40 };
  const judged: RunResults = {
    ...withRun({ metrics: [judge] }),
    arms: runResults.arms.map((arm) => ({ ...arm, metrics: { ...arm.metrics, judge: accepted } })),
    judge: {
      ...{ model: 'grader', prompt: 'Is it right?\nSay so.', asked: 12, known: 3, failed: [] },
      agreement: { n: 636, share: 0.955, kappa: 0.712 },
      arms: [
        { arm: 'rag', judged: 318, unjudged: 2, agreement: { n: 318, share: 0.95, kappa: null } },
        { arm: 'dki', judged: 0, unjudged: 320, agreement: null },
      ],
    },
  };

  it('has its verdicts beside the others in table 1, and its agreement with contains in a table', () => {
    const cells = { exactMatch: '97.2 [95.4, 99.0]', judge: '90.0 [85.0, 95.0]' };
    expect(shown(armResultsTable(judged), 'dki')).toMatchObject(cells);
    expect(columnHeadings(armResultsTable(judged)).slice(0, 2)).toEqual(['exact match (%)', 'judge (%)']);
    const table = judgeTable(judged)!;
    expect(shown(table, 'rag')).toMatchObject({
      judge: '90.0 [85.0, 95.0]',
      judged: '318',
      unjudged: '2',
      agreement: '95.0',
      kappa: '–',
    });
    expect(shown(table, 'all')).toMatchObject({ judge: '–', n: '636', agreement: '95.5', kappa: '0.71' });
    expect(table.notes.at(-1)).toContain('12 answers were sent to the judge, 3 verdicts were reused');
    expect(table.notes.at(-1)).toContain('Is it right? Say so.');
    expect(shownTables(judged).map(({ id }) => id)).toContain('judge');
    expect(judgeTable(runResults)).toBeUndefined();
    expect(shown(armResultsTable(runResults), 'dki')).not.toHaveProperty('judge');
  });
});

/** The run on data in languages, of each of which this share of the answers is right. */
function inLanguages(shares: Readonly<Record<string, number>>): RunResults {
  const parts = Object.entries(shares).map(([value, mean]): BreakdownPart => {
    const share = { mean, low: mean - 0.1, high: mean + 0.1, n: 160, users: 20 };
    const metrics = { exactMatch: share, tokenF1: share, memoryRecall: null, abstention: null, taskSuccess: share };
    return { field: 'language', value, n: 160, metrics };
  });
  const arms = runResults.arms.map((arm) => ({ ...arm, breakdown: [...arm.breakdown, ...parts] }));
  return { ...runResults, arms };
}

test('table 1 has the quality of each language beside that of all, with intervals', () => {
  const bilingual = inLanguages({ en: 0.8, zh: 0.2 });
  const table = armResultsTable(bilingual);
  const { blocks } = table;
  const titles = ['Quality', 'Quality, English', 'Quality, Chinese', 'Tokens per turn (mean)'];
  expect(blocks.slice(0, 4).map(({ title }) => title)).toEqual(titles);
  expect(blocks[2]!.columns.map(({ key }) => key)).toEqual(['zh:exactMatch', 'zh:abstention', 'zh:taskSuccess']);
  const cells = { 'zh:exactMatch': '20.0 [10.0, 30.0]', 'en:taskSuccess': '80.0 [70.0, 90.0]', 'zh:abstention': '–' };
  expect(shown(table, 'dki')).toMatchObject(cells);
  const [languages] = breakdownTable(bilingual).blocks.slice(-1);
  expect(languages!.columns.map(({ key }) => key)).toEqual(['language:en', 'language:zh']);
  const unknown = armResultsTable({ ...bilingual, run: { ...bilingual.run, unknownQuality: 'random weights' } });
  expect(shown(unknown, 'rag')['zh:exactMatch']).toBe('random weights');
});

test('a run with one language says nothing of it', () => {
  const english = inLanguages({ en: 0.8 });
  expect(armResultsTable(english).blocks.some(({ title }) => title?.startsWith('Quality, '))).toBe(false);
  expect(breakdownTable(english).blocks.map(({ title }) => title)).not.toContain('By language');
});
