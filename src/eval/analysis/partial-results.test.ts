import { expect, test } from 'vitest';
import { handmadeTraits } from '../../../test/fixtures/arm-traits.ts';
import { type HandmadeTurn, storeRun } from '../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../store/database.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { PartialResults, unfinishedResults, type UnfinishedRun } from './unfinished-run.ts';

const right: readonly (readonly number[])[] = [[1, 1, 0], [0, 1], [1], [0, 0, 0, 1], [1, 0]];

/** Items of users by the arms `rag` and `dki`, which answers every third item otherwise, some twice. */
function turnsOf(users: number): HandmadeTurn[] {
  return right.slice(0, users).flatMap((items, user) =>
    items.flatMap((score, item) =>
      [0, 1].flatMap((repeat): HandmadeTurn[] => [
        { ...{ itemId: `${user}-${item}`, userId: `u${user}`, repeat }, arm: 'rag', right: score === 1 },
        {
          ...{ itemId: `${user}-${item}`, userId: `u${user}`, repeat, arm: 'dki' },
          right: (score + (item === 2 ? repeat : 0)) % 2 === 1,
          ...(user === 3 && item === 0 ? { error: 'no cell left' } : {}),
        },
      ]),
    ),
  );
}

test.each([1, 2, 5])('of %i users every arm has the estimate, the answers and the errors of the results', (users) => {
  const turns = turnsOf(users);
  using database = openDatabase({ path: ':memory:' });
  const run = storeRun(database, { name: 'r', turns, status: 'running' });
  const written = new TurnRepository(database).listForResults(run.id);
  const { results } = unfinishedResults(run as UnfinishedRun, written, new Set());
  const soFar = new PartialResults(run.plan.arms, { unit: '%' });
  for (const ofUser of Map.groupBy(turns, ({ userId }) => userId).values()) {
    soFar.add(ofUser.map((turn) => ({ ...turn, failed: turn.error !== undefined, value: turn.right ? 1 : 0 })));
  }
  const expected = results!.arms.map(({ arm, n, errors, metrics }) => [arm, n, errors, metrics.exactMatch]);
  expect(soFar.arms().map(({ arm, n, errors, estimate }) => [arm, n, errors, estimate])).toEqual(
    expected.map(([arm, n, errors, estimate]) => [arm, n, errors, closeTo(estimate as Record<string, number>)]),
  );
});

/** Sums in another order differ in their last bits. */
function closeTo(numbers: Record<string, number>): unknown {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [name, expect.closeTo(value, 12) as number]),
  );
}

test('values of no share have the interval of a mean, and an arm without a value has none', () => {
  const soFar = new PartialResults([handmadeTraits('rag'), handmadeTraits('dki')], { unit: 'nats' });
  for (const [user, value] of [1, 2, 3, 6].entries()) {
    soFar.add([{ userId: `u${user}`, itemId: `i${user}`, arm: 'rag', failed: false, value: -value }]);
  }
  const [rag, dki] = soFar.arms();
  // 3 ± 3.1824 · √(14/12)
  expect(rag!.estimate!.mean).toBe(-3);
  expect(rag!.estimate!.high).toBeCloseTo(-3 + 3.1824 * Math.sqrt(14 / 12), 3);
  expect(dki).toEqual({ arm: 'dki', n: 0, errors: 0, estimate: null });
});
