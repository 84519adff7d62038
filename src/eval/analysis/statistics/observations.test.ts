import { expect, test } from 'vitest';
import { countUsers, differences, pairedObservationsOf, pairsWhere, sideOf, unitTotals } from './observations.ts';

const pairs = pairedObservationsOf([
  { userId: 'b', a: 1, b: 0 },
  { userId: 'a', a: 0, b: 1 },
  { userId: 'b', a: 3, b: 1 },
]);

test('users who stand at no place are no units: what is left of one user is that of one user', () => {
  const ofB = pairsWhere(pairs, (a, b) => a > b);
  expect([ofB.userIds, countUsers(ofB), countUsers(pairs)]).toEqual([['a', 'b'], 1, 2]);
  expect(unitTotals(differences(pairs))).toEqual({
    ...{ sums: Float64Array.of(-1, 3), counts: Float64Array.of(1, 2), squares: 6 },
  });
  // Of a single user each observation is a unit.
  expect(unitTotals(differences(ofB))).toEqual({
    ...{ sums: Float64Array.of(1, 2), counts: Float64Array.of(1, 1), squares: 5 },
  });
  expect(
    unitTotals(
      sideOf(
        pairsWhere(pairs, () => false),
        'a',
      ),
    ).sums,
  ).toHaveLength(0);
});
