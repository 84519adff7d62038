import { expect, test } from 'vitest';
import { quantiles } from './quantile.ts';

const upTo = (n: number) => Array.from({ length: n }, (_, index) => n - index);

test("agrees with R's quantile(1:n, c(0.5, 0.95)), type 7", () => {
  expect(quantiles(upTo(100))).toEqual({ p50: 50.5, p95: expect.closeTo(95.05, 10) });
  expect(quantiles(upTo(4))).toEqual({ p50: 2.5 });
});

test('p95 is left out below 100 values; values are compared as numbers and left in place', () => {
  const values = [10, 9, 100];
  expect(quantiles(values)).toEqual({ p50: 10 });
  expect(values).toEqual([10, 9, 100]);
  expect('p95' in quantiles(upTo(99))).toBe(false);
  expect(() => quantiles([])).toThrow(RangeError);
});
