import { expect, test } from 'vitest';
import { estimateLatency, estimateMean, estimateShare } from './estimate.ts';

const items = (value: (index: number) => number) =>
  Array.from({ length: 100 }, (_, index) => ({ userId: `u${index % 20}`, value: value(index) }));

test('carry mean, interval, items and users; latency its quantiles too', () => {
  const some = estimateShare(items((index) => (index % 10 === 0 ? 1 : 0)))!;
  expect(some).toMatchObject({ mean: expect.closeTo(0.1, 12), n: 100, users: 20 });
  expect(some.low).toBeLessThan(0.1);
  expect(some.high).toBeGreaterThan(0.1);
  expect(estimateLatency(items((index) => index + 1))).toMatchObject({
    ...{ mean: 50.5, p50: 50.5, p95: expect.closeTo(95.05, 9) },
  });
  expect(estimateLatency([1, 90].map((value) => ({ userId: `u${value}`, value })))!.low).toBe(0);
  expect(Object.keys(estimateMean(items((index) => -index))!)).not.toContain('p50');
});

test('nothing observed is no estimate', () => {
  expect([estimateShare, estimateLatency, estimateMean].map((estimate) => estimate([]))).toEqual([null, null, null]);
});
