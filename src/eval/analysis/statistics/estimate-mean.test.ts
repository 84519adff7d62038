import { expect, test } from 'vitest';
import { estimateLatency, estimateMean, estimateShare, quantiles } from './estimate-mean.ts';

const items = (value: (index: number) => number) =>
  Array.from({ length: 100 }, (_, index) => ({ userId: `u${index % 20}`, value: value(index) }));

test('carry mean, interval, items and users; latency its quantiles too', () => {
  const some = estimateShare(items((index) => (index % 10 === 0 ? 1 : 0)))!;
  expect(some).toMatchObject({ mean: expect.closeTo(0.1, 12), n: 100, users: 20 });
  expect(some.low).toBeLessThan(0.1);
  expect(some.high).toBeGreaterThan(0.1);
  const times = items((index) => index + 1);
  const timed = estimateLatency(
    times,
    times.map(({ value }) => value),
  );
  expect(timed).toMatchObject({ mean: 50.5, p50: 50.5, p95: expect.closeTo(95.05, 9) });
  const few = [1, 90].map((value) => ({ userId: `u${value}`, value }));
  expect(estimateLatency(few, [1, 90])!.low).toBe(0);
  expect(Object.keys(estimateMean(items((index) => -index))!)).not.toContain('p50');
});

test('nothing observed is no estimate', () => {
  expect([estimateShare([]), estimateLatency([], []), estimateMean([])]).toEqual([null, null, null]);
});

const upTo = (n: number) => Array.from({ length: n }, (_, index) => n - index);

test("agrees with R's type 7, p95 left out below 100 values; values are compared as numbers and left in place", () => {
  expect(quantiles(upTo(100))).toEqual({ p50: 50.5, p95: expect.closeTo(95.05, 10) });
  expect(quantiles(upTo(99))).toEqual({ p50: 50 });
  const values = [10, 9, 100, 11];
  expect(quantiles(values)).toEqual({ p50: 10.5 });
  expect(values).toEqual([10, 9, 100, 11]);
  expect(() => quantiles([])).toThrow(RangeError);
});
