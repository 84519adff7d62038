import { expect, test } from 'vitest';
import { type HandmadeTurn, storeRun } from '../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { isUnfinished, type UnfinishedResults, unfinishedResults, type UnfinishedRun } from './unfinished-run.ts';

const arms = ['rag', 'dki'];
const users = ['ann', 'bob', 'eve'];
const ITEMS = 2;

/** The turns of a run of three users with two items each, in the order of writing; `bob` answers all wrong. */
const whole = users.flatMap((userId) =>
  Array.from({ length: ITEMS }, (_, item) => `${userId}-q${item}`).flatMap((itemId) =>
    arms.map((arm): HandmadeTurn => ({ itemId, userId, arm, right: userId !== 'bob' })),
  ),
);

function soFar(
  turns: readonly HandmadeTurn[],
  settings = {},
  underWay: ReadonlySet<string> | null = null,
): UnfinishedResults {
  using database = openDatabase({ path: ':memory:' });
  const stored = storeRun(database, { name: 'r', turns, status: 'running', settings });
  const dataset: RunRecord['dataset'] = { ...stored.dataset, items: users.length * ITEMS, users: users.length };
  const run = { ...stored, dataset };
  expect(isUnfinished(run)).toBe(true);
  return unfinishedResults(run as UnfinishedRun, new TurnRepository(database).listForResults(run.id), underWay);
}

test('only users whose turns are all there count', () => {
  const { progress, results } = soFar(whole.slice(0, 6));
  expect(progress).toEqual({ users: 1, ofUsers: 3, turns: 6, ofTurns: 12 });
  expect(results!.run).toMatchObject({ status: 'running', progress });
  const [rag] = results!.arms;
  // Of bob there are two turns, both wrong.
  expect(rag).toMatchObject({ arm: 'rag', n: 2, metrics: { exactMatch: { mean: 1, n: 2, users: 1 } } });
});

test('of users who are asked at one time, none counts before its last turn', () => {
  const [ann, bob, eve] = users.map((user) => whole.filter(({ userId }) => userId === user)) as [
    HandmadeTurn[],
    HandmadeTurn[],
    HandmadeTurn[],
  ];
  const written = [...ann.slice(0, 2), ...bob.slice(0, 1), ...ann.slice(2), ...eve.slice(0, 2)];
  const { progress, results } = soFar(written, {}, new Set(['bob', 'eve']));
  expect(progress).toEqual({ users: 1, ofUsers: 3, turns: 7, ofTurns: 12 });
  expect(results!.arms.map(({ n }) => n)).toEqual([2, 2]);
  expect(soFar(written, {}, new Set(['ann', 'bob', 'eve'])).results).toBeNull();
});

test('the last user counts when every turn is there, and so do repeats', () => {
  expect(soFar(whole).progress).toEqual({ users: 3, ofUsers: 3, turns: 12, ofTurns: 12 });
  expect(soFar(whole).results!.arms[0]!.metrics.exactMatch).toMatchObject({ n: 6, users: 3 });
  expect(soFar(whole, { repeats: 2 }).progress).toEqual({ users: 2, ofUsers: 3, turns: 12, ofTurns: 24 });
});

test('turns that an arm is not asked, for want of evidence, are not waited for', () => {
  using database = openDatabase({ path: ':memory:' });
  const stored = storeRun(database, { name: 'r', turns: whole.slice(0, -1), status: 'running' });
  const [rag, oracle] = stored.plan.arms;
  const run = {
    ...stored,
    plan: { ...stored.plan, arms: [rag!, { ...oracle!, retrieves: 'evidence' as const }] },
    dataset: { ...stored.dataset, items: users.length * ITEMS, users: users.length, withoutEvidence: 1 },
  };
  const { progress } = unfinishedResults(
    run as UnfinishedRun,
    new TurnRepository(database).listForResults(run.id),
    null,
  );
  expect(progress).toEqual({ users: 3, ofUsers: 3, turns: 11, ofTurns: 11 });
});

test('a user whose last turn failed counts like any other', () => {
  const failing = whole.map((turn, index) => (index === 5 ? { ...turn, error: 'no cell left' } : turn));
  const { progress, results } = soFar(failing.slice(0, 6));
  expect(progress.users).toBe(1);
  expect(results!.arms.map(({ errors }) => errors)).toEqual([0, 0]);
  const later = soFar(failing.slice(0, 9));
  expect(later.progress.users).toBe(2);
  expect(later.results!.arms.map(({ errors }) => errors)).toEqual([0, 1]);
});

test('nothing is judged, and no check is decided that needs the end', () => {
  const { checks, comparisons } = soFar(whole).results!;
  expect(comparisons.every(({ verdict, p }) => verdict === 'not judged' && p === null)).toBe(true);
  const unfinished = checks.filter(({ evidence }) => evidence === 'the run is unfinished');
  expect(unfinished.map(({ check, status }) => [check, status])).toEqual([
    ['sample', 'undecided'],
    ['negative controls', 'undecided'],
    ['isolation', 'undecided'],
    ['effect', 'undecided'],
  ]);
  expect(checks.find(({ check }) => check === 'metrics')!.status).toBe('passed');
});

test('before the first user is complete there is nothing to show', () => {
  expect(soFar(whole.slice(0, 3))).toEqual({
    progress: { users: 0, ofUsers: 3, turns: 3, ofTurns: 12 },
    results: null,
  });
});
