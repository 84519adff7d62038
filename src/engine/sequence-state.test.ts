import { expect, test } from 'vitest';
import { SessionCells } from './sequence-state.ts';

test('cells are positions in a session of plain text', () => {
  const cells = new SessionCells();
  expect([cells.count, cells.nextPosition, cells.firstPosition]).toEqual([0, 0, 0]);
  cells.follow([7, 8, 9]);
  cells.follow([7, 8, 9, 10]);
  expect([cells.count, cells.nextPosition, cells.firstPosition]).toEqual([4, 4, 0]);
  expect(cells.tokensByPosition()).toEqual([7, 8, 9, 10]);
  cells.erase(2, 4);
  expect(cells.tokensByPosition()).toEqual([7, 8]);
});

test('cells that share positions are counted one by one, and have no token there', () => {
  const cells = new SessionCells();
  cells.load([0, 1, 2, 3, 2, 3, 2, 3], [5, 6, 7, 8, 9, 10, 11, 12]);
  expect([cells.count, cells.nextPosition]).toEqual([8, 4]);
  expect(cells.tokensByPosition()).toEqual([5, 6, -1, -1]);
  cells.follow([5, 6, 0, 0, 13]);
  expect([cells.count, cells.nextPosition]).toEqual([9, 5]);
  expect(cells.tokenIds).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  cells.erase(3, 5);
  expect([cells.count, cells.nextPosition]).toEqual([5, 3]);
  cells.erase(0, 3);
  expect([cells.count, cells.nextPosition]).toEqual([0, 0]);
});

test('positions left out have neither cell nor token; an end is always behind a cell', () => {
  const cells = new SessionCells();
  cells.load([2, 3, 10, 11], [5, 6, 7, 8]);
  expect([cells.count, cells.nextPosition, cells.firstPosition]).toEqual([4, 12, 2]);
  expect(cells.tokensByPosition()).toEqual([-1, -1, 5, 6, -1, -1, -1, -1, -1, -1, 7, 8]);
  expect([12, 11, 10, 7, 4, 3, 2, 0].map((limit) => cells.endBelow(limit))).toEqual([12, 11, 4, 4, 4, 3, 0, 0]);
});

test('behind an erased range cells move up', () => {
  const cells = new SessionCells();
  cells.follow([5, 6, 7, 8, 9, 10]);
  cells.erase(1, 3);
  expect([cells.positions, cells.tokenIds]).toEqual([
    [0, 1, 2, 3],
    [5, 8, 9, 10],
  ]);
});
