import { expect, test } from 'vitest';
import type { Observations } from './observations.ts';
import { paired, perItem, sumOf } from './per-item.ts';
import { where } from './sublist.ts';

const turn = (itemId: string, value: number | null) => ({ itemId, userId: itemId[0]!, value });
const rowsOf = ({ values, userOf, userIds }: Observations) =>
  Array.from(values, (value, place) => ({ userId: userIds[userOf[place]!], value }));
const valueOf = { of: ({ value }: ReturnType<typeof turn>): number | null => value };

test('averages the repeats of an item, wherever they stand, and leaves out what has no value', () => {
  const turns = [turn('a1', null), turn('b1', 1), turn('a2', 0.5), turn('b1', 0.25), turn('a1', 3)];
  expect(rowsOf(perItem(turns, valueOf))).toEqual([
    { userId: 'b', value: 0.625 },
    { userId: 'a', value: 0.5 },
    { userId: 'a', value: 3 },
  ]);
  expect(rowsOf(perItem(turns, { of: () => null }))).toEqual([]);
});

test('pairs the items that both have, in the order of the first', () => {
  const [a, b] = [
    [turn('a1', 1), turn('b1', 2), turn('c1', 3), turn('e1', 7)],
    [turn('c1', 5), turn('d1', 6), turn('a1', 4), turn('e1', null)],
  ];
  const found = paired(perItem(a, valueOf), perItem(b, valueOf));
  expect([[...found.a], [...found.b]]).toEqual([[1, 3], [4, 5]]); // prettier-ignore
  expect(Array.from(found.userOf, (user) => found.userIds[user])).toEqual(['a', 'c']);
  // The same lists by another value, which fewer turns have.
  const above = {
    of: ({ value }: ReturnType<typeof turn>): number | null => (value !== null && value > 3 ? value : null),
  };
  expect([...paired(perItem(b, above), perItem(a, valueOf)).a]).toEqual([5, 4]);
});

test('a measure of a part is that of the whole, looked up once a turn', () => {
  const turns = [turn('a1', 1), turn('b1', 2), turn('a1', null), turn('b2', 4)];
  const asked: unknown[] = [];
  const measure = {
    of(of: ReturnType<typeof turn>): number | null {
      asked.push(of);
      return of.value;
    },
  };
  const ofB = where(turns, ({ userId }) => userId === 'b');
  expect(rowsOf(perItem(ofB, measure))).toEqual([
    { userId: 'b', value: 2 },
    { userId: 'b', value: 4 },
  ]);
  expect([sumOf(turns, measure), sumOf(ofB, measure)]).toEqual([7, 6]);
  expect(asked).toEqual(turns);
  expect(sumOf([turn('a1', null)], valueOf)).toBeNull();
});

test('refuses what is no number, which would count as none', () => {
  expect(() => perItem([turn('a1', NaN)], valueOf)).toThrow('not a number');
  expect(() => perItem([turn('a1', 1)], () => NaN)).toThrow(RangeError);
});
