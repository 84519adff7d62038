import { expect, test } from 'vitest';
import { groupedBy, originOf, where } from './sublist.ts';

const list = ['a1', 'b1', 'a2', 'b2', 'a3'];

test('members that were picked twice are known by their places in the first list', () => {
  const letters = groupedBy(list, { of: (member) => member[0]! });
  expect([...letters]).toEqual([
    ['a', ['a1', 'a2', 'a3']],
    ['b', ['b1', 'b2']],
  ]);
  const late = where(letters.get('a')!, (member) => member !== 'a1');
  expect(late).toEqual(['a2', 'a3']);
  expect(originOf(late)).toEqual({ list, places: Uint32Array.of(2, 4) });
  expect(originOf(where(late, (_, place) => place === 1))).toEqual({ list, places: Uint32Array.of(4) });
});

test('all members are the list itself, and any other list is all of itself', () => {
  expect(where(list, () => true)).toBe(list);
  expect(originOf(list)).toEqual({ list, places: null });
  const copy = [...list];
  expect(originOf(copy).list).toBe(copy);
  expect(where(list, () => false)).toEqual([]);
});
