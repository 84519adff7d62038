import { expect, test } from 'vitest';
import { clopperPearson } from './clopper-pearson.ts';
import { estimateLatency, estimateMean, estimateShare } from './estimate.ts';

const items = (value: (index: number) => number) =>
  Array.from({ length: 100 }, (_, index) => ({ userId: `u${index % 20}`, value: value(index) }));

test('no success and nothing but successes get an exact interval on the reduced n', () => {
  const none = estimateShare(
    items(() => 0),
    1,
  );
  expect(none).toEqual({ mean: 0, low: 0, high: expect.closeTo(0.16843, 5), n: 100, users: 20 });
  expect(
    estimateShare(
      items(() => 1),
      1,
    ),
  ).toMatchObject({ mean: 1, low: clopperPearson(20, 20).low, high: 1 });
});

test('other shares get the bootstrap over users, within 0 and 1', () => {
  const some = estimateShare(
    items((index) => (index % 10 === 0 ? 1 : 0)),
    1,
  )!;
  expect(some.mean).toBeCloseTo(0.1, 12);
  expect(some.low).toBeGreaterThanOrEqual(0);
  expect(some.low).toBeLessThan(0.1);
  expect(some.high).toBeGreaterThan(0.1);
  expect(estimateShare([{ userId: 'a', value: 0.5 }], 1)).toEqual({ mean: 0.5, low: 0, high: 1, n: 1, users: 1 });
});

test('latency carries its quantiles, other means do not', () => {
  expect(
    estimateLatency(
      items((index) => index + 1),
      1,
    ),
  ).toMatchObject({ mean: 50.5, p50: 50.5, p95: expect.closeTo(95.05, 9) });
  expect(
    Object.keys(
      estimateMean(
        items((index) => -index),
        1,
      )!,
    ),
  ).not.toContain('p50');
});

test('nothing observed is no estimate', () => {
  expect(estimateShare([], 1)).toBeNull();
  expect(estimateLatency([], 1)).toBeNull();
});
