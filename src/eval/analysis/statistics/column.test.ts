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
