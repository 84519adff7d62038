import { expect, test } from 'vitest';
import { CellLedger } from './cell-ledger.ts';

test('cells are positions in a sequence of plain text', () => {
  const cells = new CellLedger();
  expect(cells.count(12)).toBe(12);
  cells.load(Int32Array.of(0, 1, 2));
  expect(cells.count(5)).toBe(5);
});

test('blocks that share positions take a cell each', () => {
  const cells = new CellLedger();
  cells.load(Int32Array.of(0, 1, 2, 3, 2, 3, 2, 3));
  expect(cells.count(4)).toBe(8);
  expect(cells.count(10)).toBe(14);
  cells.truncate(6);
  expect(cells.count(6)).toBe(10);
  cells.truncate(3);
  expect(cells.count(3)).toBe(5);
  expect(cells.count(4)).toBe(6);
  cells.truncate(0);
  expect(cells.count(9)).toBe(9);
});

test('positions left out take none', () => {
  const cells = new CellLedger();
  cells.load(Int32Array.of(0, 1, 10, 11));
  expect(cells.count(12)).toBe(4);
});
