import { expect, test } from 'vitest';
import { groupDifferenceP } from './group-difference.ts';

const users = (values: readonly number[], from = 0) =>
  values.map((value, index) => ({ userId: `u${String(from + index).padStart(2, '0')}`, value }));

test('counts the exchanges that spread the means as far: 2 of the 20 ways to part six users', () => {
  const p = groupDifferenceP([users([1, 2, 3]), users([11, 12, 13], 3)], 7);
  expect(Math.abs(p! - 2 / 20)).toBeLessThan(0.01);
  expect(groupDifferenceP([users([1, 2, 3]), users([11, 12, 13], 3)], 7)).toBe(p);
});

test('is 1 where all are equal, and null where there is one group', () => {
  expect(groupDifferenceP([users([1, 1, 1]), users([1, 1], 3)], 7)).toBe(1);
  expect(groupDifferenceP([users([1, 2, 3])], 7)).toBeNull();
  expect(groupDifferenceP([users([1, 2, 3]), users([])], 7)).toBeNull();
});

test('takes users as the units: a hundred observations of one are one', () => {
  const one = Array.from({ length: 100 }, () => ({ userId: 'a', value: 1 }));
  expect(groupDifferenceP([[...one, { userId: 'b', value: 0 }], users([0, 1, 0, 1])], 7)).toBeGreaterThan(0.9);
});

test('finds the same share of differences where there are none as its level: 5 % of 400', () => {
  let found = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const value = (place: number): number => Math.sin(seed * 97.1 + place * 13.7) * 10_000;
    const values = Array.from({ length: 16 }, (_, place) => value(place) - Math.floor(value(place)));
    if (groupDifferenceP([users(values.slice(0, 8)), users(values.slice(8), 8)], seed)! < 0.05) found++;
  }
  expect(found).toBeGreaterThan(6);
  expect(found).toBeLessThan(36);
});
