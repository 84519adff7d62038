import { expect, it } from 'vitest';
import { compile } from 'vega-lite';
import { methodsRun } from '../../../test/fixtures/method-results.ts';
import { runResults } from '../../../test/fixtures/run-results.ts';
import type { ArmTraits } from '../../records/arm-traits.ts';
import type { ArmResults, ConditionResults, RetrievalMeasurement, RunResults } from '../../records/results.ts';
import { drawnFigures, figureFiles } from './drawn-figures.ts';
import { methodMarks } from './method-marks.ts';
import { reportFigures } from './report-figures.ts';

const [rag, dki] = [runResults.arms[0]!, runResults.arms[1]!];

function conditions(arms: readonly string[], places: readonly ConditionResults['place'][]): ConditionResults[] {
  return arms.flatMap((arm) =>
    [1, 20].flatMap((condition) =>
      places.map((place) => ({
        ...{
          arm,
          condition,
          place,
          n: 16,
          errors: 0,
          metrics: rag.metrics,
          phasesMs: rag.costAll!.phasesMs,
          forced: 0,
        },
        ...{
          tokens: rag.tokens!,
          memories: { stored: 1, retrieved: 1, kept: 1, dropped: 0, tokens: condition * 16.4 },
        },
      })),
    ),
  );
}

const of = (suite: string, more: Partial<RunResults>): RunResults => ({
  ...runResults,
  ...more,
  run: { ...runResults.run, suite },
});

/** An arm by hand. */
function named(base: string, suffix: string, changes: Partial<ArmTraits>): ArmResults {
  const arm = base + suffix;
  return { ...dki, arm, traits: { ...dki.traits, name: arm, base, comparison: 'exploratory', ...changes } };
}

const varied = [0, 0.5, 1].map((alpha) => named('dki', `@alpha=${alpha}`, { settings: { alpha } }));

const retrieved = (kind: string): RetrievalMeasurement[] =>
  ['router', 'salience'].map((strategy, place) => {
    const recallAt5 = { mean: 0.5 + place / 4, low: 0.4, high: 0.8, n: 48, users: 2 };
    const metrics = { recallAt1: null, recallAt5, recallAt10: null, mrr: null, ndcgAt10: null };
    const timingsMs = { embedding: 0.25, search: 0.5, ranking: place, total: 0.75 + place };
    return { strategy, kind, n: 48, metrics, againstRouter: null, timingsMs, budgetTokens: null };
  });

const runs: readonly RunResults[] = [
  of('main', {}),
  of('latency', {
    breakEven: [
      ...(['rag', 'rag-cached'] as const).map((against) => ({
        ...{ arm: 'dki', against, missMs: 40, hitMs: 10, textMissMs: 24, textHitMs: 24, turn: 3, low: 2, high: null },
      })),
      {
        ...{ arm: 'dki-link:4', against: 'rag', missMs: 60, hitMs: 30, textMissMs: 24, textHitMs: 24 },
        ...{ turn: null, low: null, high: null },
      },
    ],
  }),
  of('scaling', {
    arms: [...runResults.arms, named('rag-twin', '', { control: 'twin' })],
    conditions: conditions(['rag', 'dki', 'rag-twin'], [null, 'early', 'late']),
  }),
  of('context', {
    arms: [rag, ...['rag', 'dki-parallel'].map((base) => named(base, '@budget=all', { settings: { budget: 'all' } }))],
    conditions: conditions(['rag', 'rag@budget=all', 'dki-parallel@budget=all'], [null]),
  }),
  of('coreference', { conditions: conditions(['rag', 'dki'], [null]) }),
  methodsRun,
  of('coherence', { conditions: conditions(['rag', 'dki'], [null]) }),
  of('alpha', { arms: [rag, ...varied] }),
  of('ablation', {}),
  of('retrieval', {
    measured: { retrieval: { users: 2, memories: 9, stats: {}, rows: [...retrieved('all'), ...retrieved('recent')] } },
  }),
  of('storage', {
    measured: {
      storage: (['text', 'memory', 'disk'] as const).map((tier) => ({
        ...{ kvType: tier === 'text' ? 'UTF-8' : 'F16', tier, tokens: 64, bytesPerToken: tier === 'text' ? 2.5 : 1536 },
        ...{ saveMs: null, loadMs: null, evaluateMs: null },
      })),
    },
  }),
  of('isolation', {
    measured: {
      leaks: [
        {
          arm: 'rag',
          users: ['1', '2'],
          answers: 2,
          said: [
            [1, 0],
            [0, 1],
          ],
          upperBound: 0.07,
        },
        {
          arm: 'dki',
          users: ['1', '2'],
          answers: 2,
          said: [
            [0, 0],
            [0, 0],
          ],
          upperBound: 0.07,
        },
        {
          arm: 'dki-blocks',
          users: ['1', '2'],
          answers: 2,
          said: [
            [1, 2],
            [0, 1],
          ],
          upperBound: 0.6,
        },
      ],
    },
  }),
];

const figure = (suite: string, id: string) =>
  reportFigures(runs.find(({ run }) => run.suite === suite)!).find((one) => one.id === id)!;

it('gives each suite its figures', () => {
  expect(Object.fromEntries(runs.map((run) => [run.run.suite, reportFigures(run).map(({ id }) => id)]))).toEqual({
    ...{ main: ['frontier'], latency: ['break-even'], scaling: ['frontier', 'phases', 'recall'], context: ['context'] },
    ...{ ablation: ['ablation'], retrieval: ['retrieval'] },
    ...{ coreference: ['coreference'], methods: ['methods'] },
    ...{ coherence: ['coherence'], alpha: ['alpha'], storage: ['storage'], isolation: ['leaks'] },
  });
});

it('has none where the run has not the data, or no quality', () => {
  const suites = runs.map(({ run }) => run.suite).filter((suite) => !['main', 'ablation', 'scaling'].includes(suite));
  expect(suites.flatMap((suite) => reportFigures(of(suite, {})))).toEqual([]);
  const unknown = runResults.arms.map((arm) => ({ ...arm, metrics: { ...arm.metrics, exactMatch: null } }));
  expect(reportFigures(of('main', { arms: unknown }))).toEqual([]);
  expect(reportFigures(of('ablation', { comparisons: [] }))).toEqual([]);
});

it('compiles without a warning', () => {
  const warnings: unknown[] = [];
  const logger = {
    ...{ level: () => logger, info: () => logger, debug: () => logger },
    warn: (...args: unknown[]) => (warnings.push(args), logger),
    error: (...args: unknown[]) => (warnings.push(args), logger),
  };
  for (const run of runs) for (const { spec } of reportFigures(run)) compile(spec, { logger: logger });
  expect(warnings).toEqual([]);
});

it('draws the same bytes for the same data, and every arm in its colour', async () => {
  for (const run of runs) {
    const [once, again] = [await drawnFigures(run), await drawnFigures(structuredClone(run))];
    expect(once.map(({ svg }) => svg)).toEqual(again.map(({ svg }) => svg));
    for (const { svg } of once) expect(svg).not.toMatch(/NaN|undefined|clip-path/);
  }
  const [drawn] = await drawnFigures(runs[0]!);
  expect(drawn!.svg.match(/fill="#3f78c1"/g)!.length).toBeGreaterThan(1);
  expect(drawn!.svg.match(/fill="#d95f0e"/g)!.length).toBeGreaterThan(1);
});

it('leaves controls out, and marks what is not proven', () => {
  expect(figure('main', 'frontier').data.map(({ arm }) => arm)).toEqual(['rag', 'dki']);
  const failed = of('main', { checks: [{ check: 'numerical parity', status: 'failed', evidence: '' }] });
  expect(reportFigures(failed)[0]!.title).toBe(
    'Figure F1. Against rag, dki gives its answers bit by bit in 0.41 of its time (NOT PROVEN: check numerical parity failed)',
  );
});

it('sums time by turn: rag and the arm cross at the break-even', () => {
  const { data, description } = figure('latency', 'break-even');
  const at = (arm: string, turn: number) =>
    data.find((row) => row['panel'] === 'dki' && row['arm'] === arm && row['turn'] === turn && row['ms'] !== null)![
      'ms'
    ];
  expect([at('rag', 2), at('dki', 2), at('rag', 3), at('dki', 3)]).toEqual([48, 50, 72, 60]);
  expect(at('rag-cached', 3)).toBe(72);
  for (const against of ['rag', 'rag-cached']) {
    expect(description).toContain(
      `dki against ${against}: turn 3 [2, never], a first turn takes 40.0 ms against 24.0 ms`,
    );
  }
  expect(description).toContain('dki-link:4 against rag: never [never, never]');
});

it('stacks phases to the time to the first token', () => {
  const rows = figure('scaling', 'phases').data.filter(({ arm, memories }) => arm === 'dki' && memories === 20);
  expect(rows.reduce((sum, { ms }) => sum + Number(ms), 0)).toBeCloseTo(rag.costAll!.phasesMs.firstToken, 9);
  expect(new Set(rows.map(({ memoryTokens }) => memoryTokens))).toEqual(new Set(['328']));
});

it('shows what each part changes against rag, in points, and says what dki is', () => {
  const { data, title, description } = figure('ablation', 'ablation');
  expect(data).toEqual([{ arm: 'dki', value: 0, low: 0, high: 0 }]);
  expect(title).toContain('against dki with all parts on, which equals rag bit by bit');
  expect(description).toContain('dki 0.0 [0.0, 0.0] points');
  const other = runResults.comparisons.map((one) => ({ ...one, verdict: 'kept' as const }));
  expect(reportFigures(of('ablation', { comparisons: other }))[0]!.title).toContain('off in turn, against rag');
});

it('shows recall over all questions beside the time of one', () => {
  const { data, description } = figure('retrieval', 'retrieval');
  expect(data).toEqual([
    { strategy: 'router', value: 50, low: 40, high: 80, ms: 0.75 },
    { strategy: 'salience', value: 75, low: 40, high: 80, ms: 1.75 },
  ]);
  expect(description).toContain('salience 75.0 [40.0, 80.0] % in 1.75 ms');
});

it('says of a leak that it is one', () => {
  const { data } = figure('isolation', 'leaks');
  expect(data.filter(({ secret }) => secret === "another's secret: a leak")).toEqual([
    { panel: 'dki-blocks: 2 leaks', asker: 1, owner: 2, secret: "another's secret: a leak", answers: 2 },
  ]);
  expect(data.find(({ panel }) => panel === 'dki: no leak')).toMatchObject({ answers: 0 });
});

it('writes the picture, its specification and its data', async () => {
  const files = new Map(await figureFiles(runs[0]!));
  expect([...files.keys()]).toEqual(['svg', 'vl.json', 'csv'].map((suffix) => `figures/frontier.${suffix}`));
  expect(files.get('figures/frontier.csv')!.split('\r\n')[0]).toBe(
    'arm,exactMatch,exactMatchLow,exactMatchHigh,ttftMs,ttftLow,ttftHigh',
  );
  expect(JSON.parse(files.get('figures/frontier.vl.json')!)).toMatchObject({
    data: { values: [{ arm: 'rag' }, { arm: 'dki' }] },
  });
  expect(files.get('figures/frontier.svg')).toMatch(/^<svg [^>]+ role="img"><title>Figure F1\..*<\/svg>\n$/);
});

it('gives every method a mark of its own, and the quality that it keeps of the text', () => {
  const { data, description } = figure('methods', 'methods');
  const panels = ['All questions', 'Evidence retrieved first', 'Evidence retrieved later'];
  expect([...new Set(data.map(({ panel }) => panel))]).toEqual(panels);
  const first = data.find(({ panel, arm }) => panel === panels[0] && arm === 'dki-first:.3')!;
  expect(first).toMatchObject({ method: 'dki-first', budget: '.3', times: 1.05 });
  expect(first['kept']).toBeCloseTo(100 * (1 - 0.2 / 0.972), 10);
  expect(description).toContain('dki-first:.3 79 % at 1.05 ×');
  const names = Array.from({ length: 20 }, (_, place) => `m${place}`);
  const methods = names.map((method) => ({ ...methodsRun.methods![0]!, method }));
  const { shape, fill } = methodMarks({ arms: methodsRun.arms, methods }, names);
  const marks = names.map((_, place) => `${shape.scale.range[place]!} ${fill.scale.range[place] === 'transparent'}`);
  expect(new Set(marks).size).toBe(names.length);
});
