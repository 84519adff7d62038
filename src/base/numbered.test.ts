import { expect, test } from 'vitest';
import { numbered } from './numbered.ts';

test('numbers texts by their sorted order', () => {
  const { numbers, sorted } = numbered(['b', 'a', 'b', 'c']);
  expect([[...numbers], sorted]).toEqual([
    [1, 0, 1, 2],
    ['a', 'b', 'c'],
  ]);
  expect(numbered([])).toEqual({ numbers: new Uint32Array(), sorted: [] });
});
