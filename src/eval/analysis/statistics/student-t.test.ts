import { expect, test } from 'vitest';
import { studentQuantile, studentTail } from './student-t.ts';

test('gives the values of printed tables', () => {
  expect(studentQuantile(0.025, 1)).toBeCloseTo(12.7062, 4);
  expect(studentQuantile(0.025, 9)).toBeCloseTo(2.2622, 4);
  expect(studentQuantile(0.005, 30)).toBeCloseTo(2.75, 4);
  expect(studentQuantile(0.025, 1e6)).toBeCloseTo(1.96, 3);
});

test('tail and quantile undo each other, on both sides of zero', () => {
  for (const freedom of [1, 4, 19]) {
    expect(studentTail(studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.1, 10);
    expect(studentTail(-studentQuantile(0.1, freedom), freedom)).toBeCloseTo(0.9, 10);
  }
  expect(studentTail(0, 5)).toBeCloseTo(0.5, 12);
  expect([studentTail(Infinity, 5), studentTail(-Infinity, 5)]).toEqual([0, 1]);
});
