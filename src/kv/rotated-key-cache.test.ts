import { expect, test } from 'vitest';
import { plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import { RotatedKeyCache } from './rotated-key-cache.ts';

const block = (): SequenceState => plainState({ ...smallLayout, heads: 1, headDimension: 8 }, [7]);

function rotated(fill: number): Uint8Array[] {
  return [new Uint8Array(16).fill(fill), new Uint8Array(16).fill(fill + 1)];
}

/** Keeps keys as a join does that rotates them for the second time. */
function keepTwice(keys: RotatedKeyCache, cells: SequenceState, distance: number, layers: readonly Uint8Array[]): void {
  keys.keep(cells, distance, () => layers);
  keys.keep(cells, distance, () => layers);
}

test('stores keys when a distance occurs for the second time', () => {
  const keys = new RotatedKeyCache(1000);
  const one = block();
  const notAsked = (): never => {
    throw new Error('asked for keys that came once');
  };
  keys.keep(one, 5, notAsked);
  keys.keep(one, 6, notAsked);
  expect([keys.find(one, 5), keys.sizeBytes]).toEqual([undefined, 0]);
  keys.keep(one, 5, () => rotated(1));
  expect([keys.find(one, 5)![0]![0], keys.sizeBytes]).toEqual([1, 32]);
  keys.forget(one);
  keys.keep(one, 5, notAsked);
  expect(keys.find(one, 5)).toBeUndefined();
});

test('returns copies by block and distance', () => {
  const keys = new RotatedKeyCache(1000);
  const [one, other] = [block(), block()];
  const given = rotated(1);
  keepTwice(keys, one, 5, given);
  given[0]!.fill(99);
  expect(keys.find(one, 5)!.map((layer) => [...new Set(layer)])).toEqual([[1], [2]]);
  expect(keys.find(one, 6)).toBeUndefined();
  expect(keys.find(other, 5)).toBeUndefined();
  keepTwice(keys, one, 5, rotated(3));
  expect(keys.find(one, 5)![0]![0]).toBe(3);
  expect(keys.sizeBytes).toBe(32);
});

test('evicts the least recently used keys, and never exceeds its bound', () => {
  const keys = new RotatedKeyCache(70);
  const blocks = [block(), block(), block()];
  keepTwice(keys, blocks[0]!, 1, rotated(1));
  keepTwice(keys, blocks[1]!, 1, rotated(2));
  keys.find(blocks[0]!, 1);
  keepTwice(keys, blocks[2]!, 1, rotated(3));
  expect(blocks.map((cells) => keys.find(cells, 1)?.[0]![0])).toEqual([1, undefined, 3]);
  expect(keys.sizeBytes).toBe(64);
  const small = new RotatedKeyCache(31);
  keepTwice(small, blocks[0]!, 1, rotated(1));
  expect([small.find(blocks[0]!, 1), small.sizeBytes]).toEqual([undefined, 0]);
});

test('forgets all distances of a block', () => {
  const keys = new RotatedKeyCache(1000);
  const [one, other] = [block(), block()];
  [1, 2, -4].forEach((distance) => keepTwice(keys, one, distance, rotated(distance)));
  keepTwice(keys, other, 2, rotated(8));
  keys.forget(one);
  expect([1, 2, -4].map((distance) => keys.find(one, distance))).toEqual([undefined, undefined, undefined]);
  expect(keys.find(other, 2)![0]![0]).toBe(8);
  expect(keys.sizeBytes).toBe(32);
  keys.clear();
  expect([keys.find(other, 2), keys.sizeBytes]).toEqual([undefined, 0]);
});
