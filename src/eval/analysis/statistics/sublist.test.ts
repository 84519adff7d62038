import { expect, test } from 'vitest';
import { copyNumbers, countOf, groupedBy, originOf, where, whereOf } from './sublist.ts';

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

test.each([
  ['few', (member: string) => Number(member[1])],
  ['few and null', (member: string) => (member === 'a2' ? null : Number(member[1]))],
])('numbers of some members are copied in their order: %s', (_, of: (member: string) => number | null) => {
  const into = new Float64Array(5);
  copyNumbers(list, { of }, into);
  expect([...into]).toEqual(list.map((member) => of(member) ?? NaN));
  copyNumbers(
    where(list, (member) => member.startsWith('a')),
    { of },
    into,
  );
  expect([...into].slice(0, 3)).toEqual(['a1', 'a2', 'a3'].map((member) => of(member) ?? NaN));
});

test('members are picked and counted by what a lookup says of them', () => {
  const letter = { of: (member: string) => member[0] };
  const some = whereOf(list, letter, (found) => found === 'b');
  expect(some).toEqual(['b1', 'b2']);
  expect(originOf(some)).toEqual({ list, places: Uint32Array.of(1, 3) });
  expect(countOf(list, letter, (found) => found === 'a')).toBe(3);
});

test('all members are the list itself, and any other list is all of itself', () => {
  expect(where(list, () => true)).toBe(list);
  expect(originOf(list)).toEqual({ list, places: null });
  const copy = [...list];
  expect(originOf(copy).list).toBe(copy);
  expect(where(list, () => false)).toEqual([]);
});
