import { expect, it } from 'vitest';
import { conditions, named, of, runs } from '../../test/fixtures/figure-runs.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import type { Comparison, RunResults } from '../store/records/run-results.ts';
import { changeFinding, qualityFinding, ratioText } from './verdict-wording.ts';
import { reportFigures, suiteFinding } from './report-contents.ts';
import { primaryMetric } from './metric-display.ts';

const metric = primaryMetric(runResults.run);
const compared = (delta: number, half: number, verdict: Comparison['verdict'] = 'not judged', a = 'dki-blocks') => ({
  ...runResults.comparisons[0]!,
  ...{ a, b: 'rag', metric: 'exactMatch', delta, low: delta - half, high: delta + half, verdict },
});

const titleOf = (results: RunResults, id: string): string =>
  reportFigures(results).find((figure) => figure.id === id)!.title;
const runOf = (suite: string): RunResults => runs.find(({ run }) => run.suite === suite)!;

it('quality is lost or gained where the interval leaves 0 out, and lost where the test says so', () => {
  expect(qualityFinding(compared(-0.1, 0.12, 'lost'), metric)).toBe('loses 10.0 [−2.0, 22.0] points of exact match');
  expect(qualityFinding(compared(-0.1, 0.02, 'lost'), metric)).toBe('loses 10.0 [8.0, 12.0] points of exact match');
  expect(qualityFinding(compared(0.1, 0.02), metric)).toBe('gains 10.0 [8.0, 12.0] points of exact match, not tested');
  expect(qualityFinding({ ...compared(-0.1, 0.1, 'undecided'), neededItems: 90 }, metric)).toBe(
    'differs by −10.0 [−20.0, 0.0] points of exact match, undecided (needs 90 items)',
  );
  expect(qualityFinding(compared(-0.1, Infinity, 'too few users'), metric)).toBe(
    'differs by −10.0 [–, –] points of exact match, too few users for a verdict',
  );
  expect(qualityFinding(compared(-0.01, 0.005, 'kept'), metric)).toBe(
    'keeps its exact match within the margin (−1.0 [−1.5, −0.5] points)',
  );
  expect(qualityFinding(compared(-0.1, 0.09, 'undecided'), metric)).toMatch(/^loses .*, undecided$/);
  expect(qualityFinding(compared(0, 0, 'identical'), metric)).toBe(
    'gives the same answers bit by bit on 320 of 320 items',
  );
});

it('a ratio of times stands with its verdict where one was planned', () => {
  expect(ratioText(compared(Math.log(0.5), 0.1), 'of its time')).toBe('0.50 [0.45, 0.55] of its time');
  expect(ratioText(compared(Math.log(0.5), 1, 'undecided'), 'of its time')).toMatch(/ of its time \(undecided\)$/);
  const noise = compared(Math.log(0.98), 0.1, 'within A/A noise');
  expect(ratioText(noise, '× rag')).toMatch(/ × rag \(no more than rag and its twin differ\)$/);
  expect(ratioText(compared(Math.log(0.003), 0.1), 'of its time')).toBe('0.0030 [0.0027, 0.0033] of its time');
});

it('a ratio of one observation has dashes for an interval', () => {
  const once = { ...compared(Math.log(2), 0.1), low: -Infinity, high: Infinity };
  expect(ratioText(once, '× rag')).toBe('2.00 [–, –] × rag');
});

it('two users give no interval: it would leave out nothing', () => {
  const of = (verdict: Comparison['verdict']) => ({ ...compared(Math.log(2), 2, verdict), users: 2 });
  expect(ratioText(of('too few users'), '× rag')).toBe('2.00 × rag (too few users)');
  expect(qualityFinding({ ...of('too few users'), delta: -0.5 }, metric)).toBe(
    'differs by −50.0 points of exact match, too few users for a verdict',
  );
});

it('a value changes from condition to condition only where the intervals do not meet', () => {
  const at = (mean: number, half: number) => ({ mean, low: mean - half, high: mean + half });
  expect(changeFinding(at(90, 5), at(60, 5), '%')).toBe('falls from 90.0 [85.0, 95.0] to 60.0 [55.0, 65.0] %');
  expect(changeFinding(at(60, 5), at(90, 5), '%')).toBe('rises from 60.0 [55.0, 65.0] to 90.0 [85.0, 95.0] %');
  expect(changeFinding(at(90, 15), at(60, 15), '%')).toBe(
    'goes from 90.0 [75.0, 105.0] to 60.0 [45.0, 75.0] %, undecided',
  );
  expect(changeFinding({ mean: 90, low: null, high: null }, at(60, 5), '%')).toBe(
    'goes from 90.0 [–, –] to 60.0 [55.0, 65.0] %, undecided',
  );
});

it('the quality against time title says so if no arm injects', () => {
  const cached = named('rag-cached', '', { comparison: 'planned', injects: 'nothing' });
  expect(titleOf(of('main', { arms: [runResults.arms[0]!, cached], comparisons: [] }), 'frontier')).toBe(
    'Figure F1. Exact match and time to the first token, by arm',
  );
});

it('curves tell the baseline and the joined arm, from the first condition to the last', () => {
  const joined = named('dki-blocks', '', { comparison: 'planned', injects: 'memories' });
  const rows = conditions(['rag', 'dki-blocks'], [null]).map((row) => {
    const lost = row.arm === 'dki-blocks' && row.condition === 20;
    const exactMatch = { mean: 0.5, low: 0.4, high: 0.6, n: 16, users: 2 };
    return lost ? { ...row, metrics: { ...row.metrics, exactMatch } } : row;
  });
  const results = of('coherence', { arms: [...runResults.arms, joined], conditions: rows });
  expect(titleOf(results, 'coherence')).toBe(
    'Figure 6. From turn 1 to turn 20 of the conversation, exact match of rag goes from 97.2 [95.4, 99.0] to 97.2 [95.4, 99.0] %, undecided, ' +
      'of dki-blocks falls from 97.2 [95.4, 99.0] to 50.0 [40.0, 60.0] %',
  );
  const main = { ...results, run: { ...results.run, suite: 'scaling' } };
  expect(titleOf(main, 'recall')).toMatch(/^Figure F3\. From 1 to 20 memories, exact match of rag goes from 97\.2/);
  expect(titleOf(main, 'phases')).toMatch(/^Figure F2\. From 16 to 328 memory tokens, time to the first token of rag /);
});

it('a figure of differences groups them by their intervals', () => {
  const { arms } = runOf('alpha');
  const byAlpha = [
    compared(-0.8, 0.1, 'not judged', 'dki@alpha=0'),
    compared(-0.1, 0.2, 'not judged', 'dki@alpha=0.5'),
    compared(0, 0, 'identical', 'dki@alpha=1'),
  ];
  expect(titleOf(of('alpha', { arms, comparisons: byAlpha }), 'alpha')).toBe(
    'Figure 4. Against rag, exact match is lower at α = 0 (by 80.0 [70.0, 90.0] points); unchanged (bit-identical) at 1; undecided at 0.5',
  );
});

it('a break-even whose interval holds "never" is not shown', () => {
  expect(titleOf(runOf('latency'), 'break-even')).toBe(
    'Figure 5. Cumulative time to first token: dki is not shown to break even against rag (turn 3 [2, never]) and ' +
      'is not shown to break even against rag-cached (turn 3 [2, never]); dki-link:4 never breaks even against rag',
  );
  const { breakEven } = runOf('latency');
  const bounded = breakEven.slice(0, 1).map((one) => ({ ...one, high: 5 }));
  expect(titleOf(of('latency', { breakEven: bounded }), 'break-even')).toContain(
    'dki breaks even at turn 3 [2, 5] against rag',
  );
});

it('retrieval is held against the router', () => {
  const { measured } = runOf('retrieval');
  const retrieval = measured!.retrieval!;
  const rows = retrieval.rows.map((row, place) =>
    place === 1 ? { ...row, againstRouter: { delta: 0.1, low: 0.05, high: 0.15, p: 0.01 } } : row,
  );
  expect(suiteFinding(of('retrieval', { measured: { retrieval: { ...retrieval, rows } } }))).toBe(
    "Recall@5 above the router's, with the whole interval above zero: salience on all questions together. " +
      "Below the router's, with the whole interval below zero: salience on none.",
  );
});

it('bytes, leaks, methods and loads are told with their numbers', () => {
  expect(titleOf(runOf('storage'), 'storage')).toBe(
    'Figure 8. Bytes of a memory token: 2.5 as text; 1,536 as KV in F16, 614 times the text',
  );
  expect(titleOf(runOf('isolation'), 'leaks')).toBe("Figure 9. dki-blocks (2 answers) told users another's secret");
  const tight = runOf('isolation').measured!.leaks!.slice(0, 2);
  expect(titleOf(of('isolation', { measured: { leaks: tight } }), 'leaks')).toBe(
    "Figure 9. No arm of 2 told a user another's secret: at most 7.0 % of answers do, by the upper 95 % bound",
  );
  expect(titleOf(runOf('methods'), 'methods')).toBe(
    'Figure 11. 2 of 3 methods lose exact match against rag by their 95 % intervals, dki-random:.3 most: 30.0 [20.0, 40.0] points; ' +
      '1 of 1 is better than randomly chosen tokens: dki-first:.3',
  );
  const load = {
    turns: 9,
    errors: 0,
    answered: 1,
    evaluatedTokens: 1,
    reusedTokens: 0,
    movedBytes: 0,
    hits: null,
    sameAsText: null,
    meter: null,
  };
  const loads = [
    [1, false],
    [4, true],
  ].map(([offered, saturated]) => ({
    ...load,
    arm: 'rag',
    offered: offered as number,
    saturated: saturated as boolean,
    ttftMs: { p50: 9 },
  }));
  const serving = { sessions: 1, conversations: 1, recurrence: 0, capacity: {}, loads };
  expect(suiteFinding(of('serving', { measured: { serving } }))).toBe(
    'Highest tested arrival rate that each arm sustains: rag 1.00/s.',
  );
});

it('the planned contrast has the verdict of its test, also if its interval contains 0', () => {
  const categories: [string, string] = ['stated', 'updated'];
  const planned = { arm: 'dki', reference: 'rag', categories, metric: 'exactMatch', discordance: 0.2 };
  const difference = { against: 'rag', delta: 0.1, low: -0.1, high: 0.3, n: 9, users: 9, wins: 1, losses: 0 };
  const arms = runResults.arms.map((arm) => ({
    ...arm,
    breakdown: arm.breakdown.map((part) => ({ ...part, difference })),
  }));
  const title = (half: number, verdict: 'higher' | 'undecided' | 'too few users') => {
    const found = {
      state: 'measured',
      delta: 0.1,
      low: 0.1 - half,
      high: 0.1 + half,
      n: 18,
      users: 9,
      p: 0.03,
      detectable: null,
      verdict,
      parts: [],
      goldLogProb: null,
    } as const;
    const contrast = { planned, before: { items: [9, 9], detectable: null }, found };
    return titleOf(of('main', { arms, contrast }), 'categories');
  };
  expect(title(0.2, 'higher')).toBe(
    'Figure F0. Planned contrast, (dki − rag) on stated minus the same on updated, by exactMatch: 10.0 [−10.0, 30.0] points (p .030, higher)',
  );
  expect(title(0.05, 'undecided')).toBe(
    'Figure F0. Planned contrast, (dki − rag) on stated minus the same on updated, by exactMatch: 10.0 [5.0, 15.0] points (p .030, undecided)',
  );
  expect(title(0.05, 'too few users')).toMatch(/too few users\)$/);
});
