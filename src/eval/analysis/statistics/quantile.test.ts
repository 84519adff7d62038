import { expect, test } from 'vitest';
import { quantiles } from './quantile.ts';

const upTo = (n: number) => Array.from({ length: n }, (_, index) => n - index);

test("agrees with R's type 7, p95 left out below 100 values; values are compared as numbers and left in place", () => {
  expect(quantiles(upTo(100))).toEqual({ p50: 50.5, p95: expect.closeTo(95.05, 10) });
  expect(quantiles(upTo(99))).toEqual({ p50: 50 });
  const values = [10, 9, 100, 11];
  expect(quantiles(values)).toEqual({ p50: 10.5 });
  expect(values).toEqual([10, 9, 100, 11]);
  expect(() => quantiles([])).toThrow(RangeError);
});
