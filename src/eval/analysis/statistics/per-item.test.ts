import { expect, test } from 'vitest';
import { paired, perItem } from './per-item.ts';

const turn = (itemId: string, value: number | null) => ({ itemId, userId: itemId[0]!, value });
const valueOf = ({ value }: ReturnType<typeof turn>): number | null => value;

test('averages the repeats of an item, wherever they stand, and leaves out what has no value', () => {
  const turns = [turn('a1', null), turn('b1', 1), turn('a2', 0.5), turn('b1', 0.25), turn('a1', 3)];
  const values = perItem(turns, valueOf);
  const expected = [
    { itemId: 'b1', userId: 'b', value: 0.625 },
    { itemId: 'a2', userId: 'a', value: 0.5 },
    { itemId: 'a1', userId: 'a', value: 3 },
  ];
  expect(values.length).toBe(3);
  expect([...values]).toEqual(expected);
  expect([...values]).toEqual(expected);
  expect([...perItem(turns, () => null)]).toEqual([]);
});

test('pairs the items that both have, in the order of the first', () => {
  const a = perItem([turn('a1', 1), turn('b1', 2), turn('c1', 3)], valueOf);
  const b = perItem([turn('c1', 5), turn('d1', 6), turn('a1', 4)], valueOf);
  expect(paired(a, b)).toEqual([
    { userId: 'a', a: 1, b: 4 },
    { userId: 'c', a: 3, b: 5 },
  ]);
});
