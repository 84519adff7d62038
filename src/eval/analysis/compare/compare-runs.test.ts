import { describe, expect, test } from 'vitest';
import { storeRun, type HandmadeRun, type HandmadeTurn } from '../../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../../store/database.ts';
import { compareStoredRuns, type ComparisonOptions, type RunsComparison } from './compare-runs.ts';
import type { MetricDifference } from './metric-differences.ts';

const USERS = 12;

/** Two questions of each user; the users at `wrong` have their first one wrong. */
function turnsOf(arm: string, wrong: readonly number[], more: Partial<HandmadeTurn> = {}): HandmadeTurn[] {
  return Array.from({ length: USERS }, (_, user) =>
    [0, 1].map((question) => {
      const right = question === 1 || !wrong.includes(user);
      return { itemId: `u${user}-q${question}`, userId: `u${user}`, arm, right, ...more };
    }),
  ).flat();
}

function compared(
  a: Omit<HandmadeRun, 'name'>,
  b: Omit<HandmadeRun, 'name'>,
  options: Partial<ComparisonOptions> = {},
): RunsComparison {
  using database = openDatabase({ path: ':memory:' });
  const rows = { a: storeRun(database, { ...a, name: 'first' }), b: storeRun(database, { ...b, name: 'second' }) };
  return compareStoredRuns(database, rows, { force: false, seed: 7, margin: 2, ...options });
}

function found(comparison: RunsComparison, arm: string, metric: MetricDifference['metric']): MetricDifference {
  return comparison.differences.find((difference) => difference.arms.a === arm && difference.metric === metric)!;
}

describe('differences', () => {
  test('are paired by item and arm, tested over users, and adjusted over the arms', () => {
    const comparison = compared(
      { turns: [...turnsOf('oracle', []), ...turnsOf('full', [0])] },
      { turns: [...turnsOf('full', [7]), ...turnsOf('oracle', [0, 1, 2, 3, 4, 5, 6, 8])] },
    );
    const oracle = found(comparison, 'oracle', 'exactMatch');
    const means = { meanA: 1, meanB: expect.closeTo(2 / 3, 12) as number, delta: expect.closeTo(1 / 3, 12) as number };
    const counts = { n: 24, users: 12, wins: 8, losses: 0, ties: 16 };
    // Eight users differ, all one way: two of 2⁸ flips are as extreme.
    expect(oracle).toMatchObject({ ...means, ...counts, p: 2 / 256, pAdjusted: 4 / 256, verdict: 'kept' });
    expect(oracle.low).toBeGreaterThan(0.02);
    expect(oracle.high).toBeLessThan(0.65);
    expect(oracle.pKept).toBeLessThan(0.025);
    expect(found(comparison, 'full', 'exactMatch')).toMatchObject({ delta: 0, p: 1, pAdjusted: 1, wins: 1, losses: 1 });
    expect(found(comparison, 'full', 'exactMatch').low).toBeLessThan(0);
    const [good, bad] = [turnsOf('oracle', []), turnsOf('oracle', [0, 1, 2, 3, 4, 5])];
    const lost = { delta: -0.25, verdict: 'lost', wins: 0, losses: 6 };
    expect(found(compared({ turns: bad }, { turns: good }), 'oracle', 'taskSuccess')).toMatchObject(lost);
  });

  test('runs with the same answers from the same bits are identical', () => {
    const verdict = (more: Partial<HandmadeTurn> = {}) => {
      const comparison = compared({ turns: turnsOf('oracle', [3]) }, { turns: turnsOf('oracle', [3], more) });
      return found(comparison, 'oracle', 'exactMatch');
    };
    expect(verdict()).toMatchObject({ verdict: 'identical', low: 0, high: 0, n: 24 });
    expect(verdict({ answer: ' Torino' }).verdict).not.toBe('identical');
    // Another version of the scoring rules scores the same answers otherwise.
    const [scored, again] = [0, 1].map((user) => turnsOf('oracle', [user], { answer: ' Turin', goldLogProb: -1 }));
    const moved = found(compared({ turns: scored! }, { turns: again! }), 'oracle', 'exactMatch');
    expect(moved).toMatchObject({ wins: 1, losses: 1 });
    expect(moved.verdict).not.toBe('identical');
  });

  test('times are compared on one machine only, as ratios without a verdict', () => {
    const [slow, fast] = [{ firstTokenMs: 20 }, { firstTokenMs: 5 }].map((more) => turnsOf('oracle', [], more));
    const ratio = found(compared({ turns: fast! }, { turns: slow! }), 'oracle', 'ttftLogRatio');
    expect(ratio).toMatchObject({ wins: 24, verdict: 'not judged', p: null });
    expect([ratio.meanA, ratio.meanB, Math.exp(ratio.delta)]).toEqual(
      [5, 20, 0.25].map((one): unknown => expect.closeTo(one, 9)),
    );
    const apart = compared({ turns: fast! }, { turns: slow!, environment: { cpu: 'Another', threads: 8 } });
    expect(apart.machines).toEqual([
      { what: 'cpu', a: 'A CPU', b: 'Another' },
      { what: 'threads', a: '2', b: '8' },
    ]);
    expect(apart.differences.some(({ metric }) => metric === 'ttftLogRatio')).toBe(false);
  });

  test('times under load are compared only with those under the same load', () => {
    const run = { turns: turnsOf('oracle', []), settings: { workers: 2 } };
    const same = compared(run, run);
    expect(same.machines).toEqual([]);
    expect(found(same, 'oracle', 'ttftLogRatio').n).toBe(24);
    const { machines, differences } = compared(run, { turns: run.turns });
    expect(machines).toEqual([{ what: 'load', a: '2 workers at once', b: 'one process' }]);
    expect(differences.some(({ metric }) => metric === 'ttftLogRatio')).toBe(false);
    expect(differences.some(({ metric }) => metric === 'exactMatch')).toBe(true);
  });

  test('one arm may be compared with another', () => {
    const both = [...turnsOf('oracle', []), ...turnsOf('full', [0])];
    const { differences, flips } = compared({ turns: both }, { turns: both }, { arms: ['oracle/full'] });
    expect(new Set(differences.map(({ arms }) => `${arms.a}/${arms.b}`))).toEqual(new Set(['oracle/full']));
    expect(flips[0]).toMatchObject({ wins: 1, losses: 0, ties: 23 });
  });
});

describe('flips', () => {
  test('name item, question, gold and both answers, over repeats', () => {
    const twice = (wrong: readonly number[]) => [...turnsOf('oracle', wrong), ...turnsOf('oracle', [], { repeat: 1 })];
    const { flips } = compared({ turns: twice([2]) }, { turns: twice([5]) });
    const texts = { question: 'Where does my sister live?', gold: 'Turin' };
    const half = { answers: [' Oslo', ' Turin'], right: 0.5 };
    const whole = { answers: [' Turin', ' Turin'], right: 1 };
    const items = [
      { itemId: 'u2-q0', userId: 'u2', outcome: 'lost', ...texts, a: half, b: whole },
      { itemId: 'u5-q0', userId: 'u5', outcome: 'won', ...texts, a: whole, b: half },
    ];
    expect(flips).toEqual([{ arms: { a: 'oracle', b: 'oracle' }, wins: 1, losses: 1, ties: 22, items }]);
  });

  test('absent items flip by abstention; random weights flip nothing', () => {
    const absent = (wrong: readonly number[]) => turnsOf('oracle', wrong, { gold: null });
    const comparison = compared({ turns: absent([]) }, { turns: absent([1]) });
    expect(found(comparison, 'oracle', 'abstention')).toMatchObject({ n: 24, wins: 1, losses: 0 });
    expect(comparison.differences.some(({ metric }) => metric === 'exactMatch')).toBe(false);
    expect(comparison.flips[0]!.items[0]).toMatchObject({ itemId: 'u1-q0', gold: null, outcome: 'won' });
    const run = { modelName: 'random:tiny', turns: turnsOf('oracle', [0]) };
    const random = compared(run, run);
    expect(random.flips).toEqual([]);
    expect(random.differences.map(({ metric }) => metric)).toEqual(['evaluatedTokens', 'ttftLogRatio']);
    expect(random.notes).toEqual(['weights are random: answers are not compared']);
  });
});

describe('obstacles to a comparison', () => {
  const turns = turnsOf('oracle', []);
  const parts = (last: string) => {
    const datasetParts = ['1', last].map((digit) => ({ name: 'part', sha256: digit.repeat(64) }));
    return { turns, datasetSha256: last.repeat(64), datasetParts };
  };
  const name = (digit: string) => `part (${digit.repeat(12)})`;
  const elsewhere = turns.map((turn) => ({ ...turn, itemId: `x-${turn.itemId}` }));

  test.each<[Omit<HandmadeRun, 'name'>, Omit<HandmadeRun, 'name'>, string]>([
    [{ turns }, { turns: turnsOf('full', []) }, 'have no arm in common'],
    [{ turns }, { turns: elsewhere }, 'answered no item in common'],
    // Each data set by its own bytes.
    [parts('2'), parts('3'), `differ in data set: ${name('1')} + ${name('2')} and ${name('1')} + ${name('3')}`],
  ])('%#: %3$s', (a, b, problem) => {
    expect(() => compared(a, b)).toThrow(`runs "first" and "second" ${problem}`);
  });

  test('with --force, other data and models are compared, and differing golds are counted', () => {
    const other = { turns: turnsOf('oracle', [], { gold: 'Oslo' }), datasetSha256: 'f'.repeat(64), modelName: 'large' };
    const { forced, notes } = compared({ turns }, other, { force: true });
    expect(forced.map(({ what }) => what)).toEqual(['data set', 'model']);
    expect(notes).toEqual(['oracle: 24 items have the same id but different golds']);
  });

  test('differing settings, unmatched items and failed turns are reported', () => {
    const some = turns.slice(0, 12).map((turn, index) => (index === 0 ? { ...turn, error: 'no cell left' } : turn));
    const { settings, notes, b } = compared(
      { turns, settings: { topK: 5, reserve: 64 } },
      { turns: some, settings: { topK: 9 }, environment: { gitCommit: 'abc' } },
    );
    expect(settings).toEqual([
      { what: 'reserve', a: '64', b: 'not set' },
      { what: 'topK', a: '5', b: '9' },
      { what: 'gitCommit', a: 'not set', b: 'abc' },
    ]);
    expect(notes).toEqual([
      'oracle: 11 items in common; 13 only in first, 0 only in second',
      'oracle: 0 failed turns in first, 1 in second: means leave them out',
    ]);
    expect(b.failedChecks).toEqual(['errors']);
  });
});
