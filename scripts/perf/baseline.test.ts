import { expect, it } from 'vitest';
import { changedRatios, ratiosOf } from './baseline.ts';

it('takes the ratios of the tables, and no times', () => {
  const head = ['step', 'cold', '× copy, cold', 'warm', '× copy, warm'];
  const rows = [
    ['copy', '2.00', '1.00', '1.00', '1.00'],
    ['join', '3.00', '1.50', '–', '–'],
  ];
  expect(
    ratiosOf([
      { head: ['page', 'ms'], rows: [['run', 7]] },
      { head, rows },
    ]),
  ).toEqual({
    '2: copy, × copy, cold': 1,
    '2: copy, × copy, warm': 1,
    '2: join, × copy, cold': 1.5,
  });
});

it('names what changed by more than a tenth, the largest change first', () => {
  const then = { a: 1, b: 1, c: 2, gone: 1 };
  expect(changedRatios(then, { a: 1.09, b: 1.2, c: 1, new: 9 })).toEqual([
    ['c', 2, 1],
    ['b', 1, 1.2],
  ]);
});
