import { expect, test } from 'vitest';
import { handmadeTraits } from '../../../test/fixtures/arm-traits.ts';
import { type HandmadeTurn, storeRun } from '../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { isUnfinished, unfinishedResults, type UnfinishedRun } from './unfinished-run-results.ts';

const arms = ['rag', 'dki'];
const traits = arms.map((arm) => handmadeTraits(arm));
const users = ['ann', 'bob', 'eve'];
const ITEMS = 2;

/** The turns of a run of three users with two items each, in the order of writing; `bob` answers all wrong. */
const whole = users.flatMap((userId) =>
  Array.from({ length: ITEMS }, (_, item) => `${userId}-q${item}`).flatMap((itemId) =>
    arms.map((arm): HandmadeTurn => ({ itemId, userId, arm, right: userId !== 'bob' })),
  ),
);

/** With a failed turn in the middle of them. */
const failing = whole.map((turn, index) => (index === 5 ? { ...turn, error: 'no cell left' } : turn));

function unfinished(
  turns: readonly HandmadeTurn[],
  underWay: ReadonlySet<string> | null = null,
  changes: (run: RunRecord) => RunRecord = (run) => run,
) {
  using database = openDatabase({ path: ':memory:' });
  const stored = storeRun(database, { name: 'r', turns, status: 'running' });
  const dataset = { ...stored.dataset, items: users.length * ITEMS, users: users.length };
  const run = changes({ ...stored, dataset });
  expect(isUnfinished(run)).toBe(true);
  return unfinishedResults(run as UnfinishedRun, new TurnRepository(database).listForResults(run.id), underWay);
}

test('only users whose turns are all there count, and before the first there is nothing to show', () => {
  const none = { users: 0, ofUsers: 3, turns: 3, ofTurns: 12 };
  expect(unfinished(whole.slice(0, 3))).toEqual({ progress: none, results: null });
  const { progress, results } = unfinished(whole.slice(0, 6));
  expect(progress).toEqual({ users: 1, ofUsers: 3, turns: 6, ofTurns: 12 });
  expect(results!.run).toMatchObject({ status: 'running', progress });
  const [rag] = results!.arms;
  // Of bob there are two turns, both wrong.
  expect(rag).toMatchObject({ arm: 'rag', n: 2, metrics: { exactMatch: { mean: 1, n: 2, users: 1 } } });
});

test('of users of several workers, none counts before its last turn', () => {
  // Two turns of ann, one of bob, two of ann, two of eve.
  const written = [0, 1, 4, 2, 3, 8, 9].map((place) => whole[place]!);
  const { progress, results } = unfinished(written, new Set(['bob', 'eve']));
  expect(progress).toEqual({ users: 1, ofUsers: 3, turns: 7, ofTurns: 12 });
  expect(results!.arms.map(({ n }) => n)).toEqual([2, 2]);
  expect(unfinished(written, new Set(users)).results).toBeNull();
});

test('the last user counts when every turn is there, and so do repeats', () => {
  expect(unfinished(whole).progress).toEqual({ users: 3, ofUsers: 3, turns: 12, ofTurns: 12 });
  expect(unfinished(whole).results!.arms[0]!.metrics.exactMatch).toMatchObject({ n: 6, users: 3 });
  const twice = unfinished(whole, null, ({ plan, ...run }) => ({
    ...run,
    plan: { ...plan, settings: { ...plan.settings, repeats: 2 } },
  }));
  expect(twice.progress).toEqual({ users: 2, ofUsers: 3, turns: 12, ofTurns: 24 });
});

test('items without evidence are not expected of arms that need it', () => {
  const ofEvidence = [traits[0]!, handmadeTraits('dki', { retrieves: 'evidence' })];
  const { progress } = unfinished(whole.slice(0, -1), null, ({ plan, dataset, ...run }) => ({
    ...run,
    plan: { ...plan, arms: ofEvidence },
    dataset: { ...dataset, withoutEvidence: 1 },
  }));
  expect(progress).toEqual({ users: 3, ofUsers: 3, turns: 11, ofTurns: 11 });
});

test('a shard counts its own users and turns', () => {
  const ofAnnAndEve = whole.filter(({ userId }) => userId !== 'bob');
  const { progress } = unfinished(ofAnnAndEve, null, ({ plan, ...run }) => ({
    ...run,
    plan: {
      ...plan,
      users: users.map((userId) => ({ userId, turns: 4 })),
      settings: { ...plan.settings, shard: '1/2' },
    },
  }));
  expect(progress).toEqual({ users: 2, ofUsers: 2, turns: 8, ofTurns: 8 });
});

test('a user whose last turn failed counts like any other', () => {
  const [before, after] = [6, 9].map((count) => unfinished(failing.slice(0, count)));
  expect([before!.progress.users, after!.progress.users]).toEqual([1, 2]);
  expect(before!.results!.arms.map(({ errors }) => errors)).toEqual([0, 0]);
  expect(after!.results!.arms.map(({ errors }) => errors)).toEqual([0, 1]);
});

test('nothing is judged, and no check is decided that needs the end', () => {
  const { checks, comparisons } = unfinished(whole).results!;
  const untested = { verdict: 'not judged', p: null, pAdjusted: null, pKept: null };
  for (const one of comparisons) expect(one).toMatchObject(untested);
  const undecided = checks.filter(({ evidence }) => evidence === 'the run is unfinished');
  expect(undecided.map(({ check }) => check)).toEqual(['sample', 'negative controls', 'isolation', 'effect']);
  expect(undecided.every(({ status }) => status === 'undecided')).toBe(true);
  expect(checks.find(({ check }) => check === 'metrics')!.status).toBe('passed');
});
