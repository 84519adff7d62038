import { expect, it } from 'vitest';
import { ExpectedMemoryOrder } from '../eval/run/turns/expected-order-and-reuse.ts';
import { RetrievalCounts } from './retrieval-counts.ts';

const memories = (ids: string) => [...ids].map((memoryId) => ({ memoryId, content: '', score: 1, metadata: {} }));
const order = (counts: RetrievalCounts, ids: string, userId = 'ann'): string =>
  counts.count(userId, memories(ids)).join('');

it('orders by how often a memory was retrieved before, then by when first, then by rank', () => {
  const counts = new RetrievalCounts();
  expect(order(counts, 'cab')).toBe('cab');
  expect(order(counts, 'bda')).toBe('abd');
  // a and b twice, c first of those that came once.
  expect(order(counts, 'edcba')).toBe('abcde');
  expect(order(counts, 'ed')).toBe('de');
  expect(order(counts, 'ed')).toBe('de');
  expect(order(counts, 'ced')).toBe('dec');
});

it('counts a memory once in a retrieval that lists it twice', () => {
  const counts = new RetrievalCounts();
  expect(order(counts, 'abb')).toBe('ab');
  expect(order(counts, 'ba')).toBe('ab');
});

it('keeps users apart, drops the count of a removed memory, and starts again when cleared', () => {
  const counts = new RetrievalCounts();
  order(counts, 'ab');
  order(counts, 'ba');
  expect(order(counts, 'ba', 'bob')).toBe('ba');
  counts.forget('bob', 'a');
  expect(order(counts, 'bca')).toBe('abc');
  counts.forget('ann', 'a');
  expect(order(counts, 'cab')).toBe('bca');
  counts.clear();
  expect(order(counts, 'cba')).toBe('cba');
});

it('agrees with the order that the run recomputes from all retrievals', () => {
  const counts = new RetrievalCounts();
  const expected = new ExpectedMemoryOrder();
  const arm = { name: 'rag@order=stable', settings: { order: 'stable' }, injects: 'nothing' } as const;
  for (const ids of ['dab', 'bad', 'ecb', 'abcde', 'edcba', 'fa', 'fedcba', 'f']) {
    expect(expected.next(arm, memories(ids))?.join(''), ids).toBe(order(counts, ids));
  }
  expect(expected.next({ ...arm, settings: {} }, memories('ab'))).toBeUndefined();
  expected.clear();
  expect(expected.next(arm, memories('fedcba'))?.join('')).toBe('fedcba');
});
