import { expect, test } from 'vitest';
import { columnOf } from './column.ts';

const list = Array.from({ length: 1000 }, (_, place) => place);

test.each([
  ['few numbers and null', (one: number) => (one % 7 === 0 ? null : one % 3)],
  ['256 values', (one: number) => one % 256],
  ['257 values', (one: number) => one % 257],
  ['numbers and null', (one: number) => (one % 7 === 0 ? null : one / 3)],
  ['words', (one: number) => `word ${one}`],
  ['words and what is missing', (one: number) => (one % 5 === 0 ? undefined : `word ${one % 2}`)],
  ['numbers, and a word at the end', (one: number) => (one === 999 ? 'end' : one)],
] as const)('%s come back, asked for once', (_, of: (one: number) => unknown) => {
  const column = columnOf(list, { of });
  expect(list.map((place) => column.at(place))).toEqual(list.map(of));
});

test.each([
  ['few', (one: number) => (one % 7 === 0 ? null : one % 3)],
  ['many', (one: number) => (one % 7 === 0 ? null : one / 3)],
])('%s numbers are copied, all or some', (_, of: (one: number) => number | null) => {
  const column = columnOf(list, { of });
  const into = new Float64Array(list.length);
  column.copyNumbers(null, into);
  expect([...into]).toEqual(list.map((one) => of(one) ?? NaN));
  const places = Uint32Array.of(999, 0, 8);
  column.copyNumbers(places, into);
  expect([...into].slice(0, 3)).toEqual(Array.from(places, (place) => of(place) ?? NaN));
});

test.each([
  ['few', (one: number) => (one === 999 ? 'end' : one % 3)],
  ['many', (one: number) => (one === 999 ? 'end' : one)],
])('a word among %s numbers is not copied', (_, of: (one: number) => unknown) => {
  const column = columnOf(list, { of });
  expect(() => column.copyNumbers(null, new Float64Array(list.length))).toThrow('not a number');
  expect(() => column.copyNumbers(Uint32Array.of(999), new Float64Array(1))).toThrow('not a number');
});

test('a list asks once for each lookup', () => {
  let asked = 0;
  const lookup = { of: (one: number) => ((asked += 1), one % 2) };
  expect(columnOf(list, lookup)).toBe(columnOf(list, lookup));
  expect(asked).toBe(list.length);
  expect(columnOf([...list], lookup).at(3)).toBe(1);
});

test('what is not a number is refused', () => {
  expect(() => columnOf(list, { of: (one) => one / 0 - one / 0 })).toThrow('not a number');
});
