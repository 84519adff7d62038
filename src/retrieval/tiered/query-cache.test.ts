import { expect, test } from 'vitest';
import { QueryCache } from './query-cache.ts';

test('forgets what was asked least recently, and counts', () => {
  const cache = new QueryCache<number>(2, 60_000);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect(cache.get('b')).toBeUndefined();
  expect([cache.get('a'), cache.get('c')]).toEqual([1, 3]);
  expect(cache.stats()).toEqual({ entries: 2, hits: 3, misses: 1 });
  cache.clear();
  expect(cache.get('a')).toBeUndefined();
  expect(cache.stats()).toEqual({ entries: 0, hits: 0, misses: 1 });
});

test('gives nothing that is past its time', () => {
  const cache = new QueryCache<number>(2, 0);
  cache.set('a', 1);
  expect(cache.get('a')).toBeUndefined();
});
