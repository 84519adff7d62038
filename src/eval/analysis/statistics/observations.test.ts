import { expect, test } from 'vitest';
import { countUsers, differences, pairItems, perItem, sideValues, unitTotals } from './observations.ts';

const turn = (itemId: string, value: number | null) => ({ itemId, userId: itemId[0]!, value });
const values = (turns: readonly ReturnType<typeof turn>[]) => perItem(turns, ({ value }) => value);

test('averages the repeats of an item, in any order, and leaves out turns without a value', () => {
  const turns = [turn('a1', null), turn('b1', 1), turn('a2', 0.5), turn('b1', 0.25), turn('a1', 3)];
  expect(values(turns)).toEqual([
    { itemId: 'b1', userId: 'b', value: 0.625 },
    { itemId: 'a2', userId: 'a', value: 0.5 },
    { itemId: 'a1', userId: 'a', value: 3 },
  ]);
  expect(perItem(turns, () => null)).toEqual([]);
});

test('pairs the items that both lists have, in the order of the first', () => {
  const a = values([turn('a1', 1), turn('b1', 2), turn('c1', 3), turn('e1', 7)]);
  const b = values([turn('c1', 5), turn('d1', 6), turn('a1', 4), turn('e1', null)]);
  expect(pairItems(a, b)).toEqual([
    { userId: 'a', a: 1, b: 4 },
    { userId: 'c', a: 3, b: 5 },
  ]);
});

test('totals are by user in the order of their ids; of a single user each observation is a unit', () => {
  const ofB = [
    { userId: 'b', a: 1, b: 0 },
    { userId: 'b', a: 3, b: 1 },
  ];
  const pairs = [...ofB, { userId: 'a', a: 0, b: 1 }];
  expect([countUsers(pairs), countUsers(ofB)]).toEqual([2, 1]);
  expect(unitTotals(differences(pairs))).toEqual({ sums: [-1, 3], counts: [1, 2], squares: 6 });
  expect(unitTotals(differences(ofB))).toEqual({ sums: [1, 2], counts: [1, 1], squares: 5 });
  expect(unitTotals(sideValues([], 'a')).sums).toEqual([]);
});
