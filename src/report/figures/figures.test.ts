import { expect, it } from 'vitest';
import { compile, type TopLevelSpec } from 'vega-lite';
import { named, of, runs } from '../../../test/fixtures/figure-runs.ts';
import { methodsRun } from '../../../test/fixtures/method-results.ts';
import { runResults } from '../../../test/fixtures/run-results.ts';
import { renderSpecification } from '../../render/figure.ts';
import { armEncoding, methodEncoding } from './arm-encoding.ts';
import { drawnFigures, figureFiles, reportFigures } from '../report-contents.ts';

const [rag, dki] = [runResults.arms[0]!, runResults.arms[1]!];

const figure = (suite: string, id: string) =>
  reportFigures(runs.find(({ run }) => run.suite === suite)!).find((one) => one.id === id)!;

it('gives each suite its figures', () => {
  expect(Object.fromEntries(runs.map((run) => [run.run.suite, reportFigures(run).map(({ id }) => id)]))).toEqual({
    ...{ main: ['frontier'], latency: ['break-even'], scaling: ['frontier', 'phases', 'recall'], methods: ['methods'] },
    ...{ context: [], coreference: [], ablation: [], retrieval: [] },
    ...{ coherence: ['coherence'], alpha: ['alpha'], storage: ['storage'], isolation: ['leaks'] },
  });
});

it('has none if the run lacks the data or has no quality', () => {
  const suites = runs.map(({ run }) => run.suite).filter((suite) => !['main', 'scaling'].includes(suite));
  expect(suites.flatMap((suite) => reportFigures(of(suite, {})))).toEqual([]);
  const unknown = runResults.arms.map((arm) => ({ ...arm, metrics: { ...arm.metrics, exactMatch: null } }));
  expect(reportFigures(of('main', { arms: unknown }))).toEqual([]);
});

it('compiles without a warning', () => {
  const warnings: unknown[] = [];
  const warn = (...args: unknown[]) => (warnings.push(args), logger);
  const logger = { level: () => logger, info: () => logger, debug: () => logger, warn, error: warn };
  for (const figure of runs.flatMap(reportFigures))
    compile(JSON.parse(renderSpecification(figure)) as TopLevelSpec, { logger });
  expect(warnings).toEqual([]);
});

it('draws the same bytes for the same data, and every arm in its colour', async () => {
  for (const run of runs) {
    const [once, again] = [await drawnFigures(run), await drawnFigures(structuredClone(run))];
    expect(once.map(({ svg }) => svg)).toEqual(again.map(({ svg }) => svg));
    for (const { svg } of once) expect(svg).not.toMatch(/NaN|undefined|clip-path/);
  }
  const [drawn] = await drawnFigures(runs[0]!);
  for (const { traits } of [rag, dki])
    expect(drawn!.svg.split(`fill="${traits.mark.colour}"`).length).toBeGreaterThan(2);
});

it('keeps times on a scale of decades, though an interval of few users reaches 0', async () => {
  const arms = [rag, dki].map((one) => {
    return { ...one, metrics: { ...one.metrics, ttftMs: { ...one.metrics.ttftMs!, low: 0 } } };
  });
  const [drawn] = await drawnFigures(of('main', { arms }));
  const shown = [...drawn!.svg.matchAll(/>([\d,.]+)<\/text>/g)].map(([, text]) => text!);
  expect(drawn!.svg).not.toMatch(/NaN|Infinity/);
  expect(shown).toEqual(expect.arrayContaining(['5', '10', '20']));
});

it('says which turns the times cover', () => {
  const times = (arms: typeof runResults.arms) =>
    /time to the first token over ([a-z ]+),/.exec(reportFigures(of('main', { arms }))[0]!.description)![1];
  expect(times([rag, dki])).toBe('cache hits');
  expect(times([rag, named('dki-blocks', '', {})])).toBe('all turns');
});

it('leaves controls out, and marks what is not proven', () => {
  expect(figure('main', 'frontier').data.map(({ arm }) => arm)).toEqual(['rag', 'dki']);
  const failed = of('main', { checks: [{ check: 'numerical parity', status: 'failed', evidence: '' }] });
  expect(reportFigures(failed)[0]!.title).toBe(
    'Figure F1. Against rag, dki gives the same answers bit by bit on 320 of 320 items; time to first token on 200 cache hits: 0.41 [0.40, 0.42] × rag (faster) (NOT PROVEN: check numerical parity failed)',
  );
});

it('explains its marks in a legend and in a line below', async () => {
  for (const run of runs) {
    for (const { figure: one, svg } of await drawnFigures(run)) {
      expect([one.id, one.key.endsWith('.'), svg.includes(one.key.split(' ')[0]!)]).toEqual([one.id, true, true]);
      expect([one.id, svg.includes('role-legend')]).toEqual([one.id, true]);
    }
  }
});

it('gives arms of one family one colour, and no two arms one shape', () => {
  const links = ['1', '2', '4'].map((k) => named(`dki-link:${k}`, '', {}));
  const { color, shape } = armEncoding({ arms: [rag, ...links] }, ['rag', ...links.map(({ arm }) => arm)]);
  expect(new Set(color.scale.range).size).toBe(2);
  expect(new Set(shape.scale.range).size).toBe(4);
});

it('sums time by turn: rag and the arm cross at the break-even', () => {
  const { data, description } = figure('latency', 'break-even');
  const ofPanel = data.filter(({ panel, ms }) => panel === 'dki' && ms !== null);
  const at = (arm: string, turn: number) => ofPanel.find((row) => row['arm'] === arm && row['turn'] === turn)!['ms'];
  expect([at('rag', 2), at('dki', 2), at('rag', 3), at('dki', 3), at('rag-cached', 3)]).toEqual([48, 50, 72, 60, 72]);
  const crossing = 'turn 3 [2, never], a first turn takes 40.0 ms against 24.0 ms';
  for (const against of ['rag', 'rag-cached']) expect(description).toContain(`dki against ${against}: ${crossing}`);
  expect(description).toContain('dki-link:4 against rag: never [never, never]');
});

it('stacks phases to the time to the first token', () => {
  const rows = figure('scaling', 'phases').data.filter(({ arm, memories }) => arm === 'dki' && memories === 20);
  expect(rows.reduce((sum, { ms }) => sum + Number(ms), 0)).toBeCloseTo(rag.costAll!.phasesMs.firstToken, 9);
  expect(new Set(rows.map(({ memoryTokens }) => memoryTokens))).toEqual(new Set(['328']));
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
  const data = { values: [{ arm: 'rag' }, { arm: 'dki' }] };
  expect(JSON.parse(files.get('figures/frontier.vl.json')!)).toMatchObject({ data });
  expect(files.get('figures/frontier.svg')).toMatch(/^<svg [^>]+ role="img"><title>Figure F1\..*<\/svg>\n$/);
});

it('gives every method a mark of its own, and the quality that it keeps of the text', () => {
  const { data, description } = figure('methods', 'methods');
  const first = data.find(({ arm }) => arm === 'dki-first:.3')!;
  expect(first).toMatchObject({ method: 'dki-first', budget: '.3', times: 1.05 });
  expect(first['kept']).toBeCloseTo(100 * (1 - 0.2 / 0.972), 10);
  expect(description).toContain('dki-first:.3 79 % at 1.05 ×');
  const names = Array.from({ length: 20 }, (_, place) => `m${place}`);
  const methods = names.map((method) => ({ ...methodsRun.methods![0]!, method }));
  const { shape, fill } = methodEncoding({ arms: methodsRun.arms, methods }, names);
  const marks = names.map((_, place) => `${shape.scale.range[place]!} ${fill.scale.range[place] === 'transparent'}`);
  expect(new Set(marks).size).toBe(names.length);
});
