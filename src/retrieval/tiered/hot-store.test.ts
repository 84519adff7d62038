import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasRedisServer, RedisServer } from '../../../test/fixtures/redis-server.ts';
import { type HotStore, InProcessHotStore } from './hot-store.ts';
import { deriveUuid } from './cold-store.ts';
import type { MemoryRecord } from './memory-record.ts';
import { RedisHotStore } from './redis-hot-store.ts';

const withRedis = hasRedisServer();
let server: RedisServer | undefined;
beforeAll(async () => {
  if (withRedis) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const record = (memoryId: string, createdAtMs: number, more: Partial<MemoryRecord> = {}): MemoryRecord => {
  return { memoryId, content: `content of ${memoryId}`, metadata: {}, createdAtMs, ...more };
};
const ids = (records: readonly MemoryRecord[]) => records.map(({ memoryId }) => memoryId);
const ann = deriveUuid('ann');
const bob = deriveUuid('bob');
const always = Number.MAX_SAFE_INTEGER;

const given = process.env['TEST_REDIS_URL'];
const implementations: Readonly<Record<string, ((namespace: string) => Promise<HotStore>) | undefined>> = {
  'in the process': async () => new InProcessHotStore(),
  Redis: withRedis ? (namespace) => RedisHotStore.open(server!.url, namespace) : undefined,
  'Redis of TEST_REDIS_URL': given === undefined ? undefined : (namespace) => RedisHotStore.open(given, namespace),
};

for (const [name, open] of Object.entries(implementations)) {
  describe.runIf(open !== undefined)(`hot store: ${name}`, () => {
    let store: HotStore;
    beforeEach(async () => {
      store = await open!(randomUUID());
      return async () => {
        await store.drop();
        await store.close();
      };
    });

    test('returns the newest first, at most `count`, none created after `untilMs`', async () => {
      await store.put(ann, ['working'], [record('b', 20), record('d', 40.5), record('a', 10), record('c', 30)]);
      expect(ids(await store.newest(ann, 'working', 10, always))).toEqual(['d', 'c', 'b', 'a']);
      expect(ids(await store.newest(ann, 'working', 2, always))).toEqual(['d', 'c']);
      expect(ids(await store.newest(ann, 'working', 2, 30))).toEqual(['c', 'b']);
      expect(ids(await store.newest(ann, 'working', 2, 9))).toEqual([]);
      expect(ids(await store.newest(ann, 'working', 0, always))).toEqual([]);
      expect(ids(await store.oldest(ann, 'working', 3))).toEqual(['a', 'b', 'c']);
      expect(ids(await store.oldest(ann, 'working', 0))).toEqual([]);
    });

    test('of records with equal times, the greater id in UTF-8 counts as newer', async () => {
      // In UTF-16 the cat would come before the Hangul.
      const records = ['b', '힣', 'a', '😺', 'ｚ'].map((id) => record(id, 5));
      await store.put(ann, ['working'], records);
      expect(ids(await store.newest(ann, 'working', 10, always))).toEqual(['😺', 'ｚ', '힣', 'b', 'a']);
      expect(ids(await store.newest(ann, 'working', 2, 5))).toEqual(['😺', 'ｚ']);
      expect(ids(await store.oldest(ann, 'working', 2))).toEqual(['a', 'b']);
    });

    test('a record with a known id replaces the old one on each shelf', async () => {
      await store.put(ann, ['working', 'waiting'], [record('a', 1), record('b', 2)]);
      await store.put(ann, ['working'], [record('a', 3, { content: 'new' })]);
      const working = await store.newest(ann, 'working', 10, always);
      expect(working).toEqual([record('a', 3, { content: 'new' }), record('b', 2)]);
      expect(await store.oldest(ann, 'waiting', 10)).toEqual([record('a', 1), record('b', 2)]);
    });

    test('removes from the given shelves, and counts each id once', async () => {
      await store.put(ann, ['working', 'waiting'], [record('a', 1), record('b', 2)]);
      await store.put(ann, ['quarantine'], [record('a', 1)]);
      expect(await store.remove(ann, ['working', 'waiting'], ['a', 'x'])).toBe(1);
      expect(await store.remove(ann, ['working', 'waiting'], ['a'])).toBe(0);
      expect(await store.remove(ann, ['working'], [])).toBe(0);
      expect(ids(await store.newest(ann, 'working', 10, always))).toEqual(['b']);
      expect(ids(await store.oldest(ann, 'quarantine', 10))).toEqual(['a']);
    });

    test('groups are independent', async () => {
      await store.put(ann, ['working'], [record('a', 1)]);
      await store.put(bob, ['working'], [record('a', 2, { content: "bob's" }), record('b', 3)]);
      expect(await store.remove(ann, ['working'], ['b'])).toBe(0);
      expect(await store.newest(ann, 'working', 10, always)).toEqual([record('a', 1)]);
      expect(await store.newest(deriveUuid('eve'), 'working', 10, always)).toEqual([]);
    });

    test('returns texts and metadata unchanged', async () => {
      const odd = record('"; DROP TABLE *\n', 1.5, {
        content: '我喜欢绿茶。\r\n\t"quoted" \\u0041 😺 \u2028',
        metadata: { confidence: 0.85, nested: { list: [1, null, 'x'], 'key with "': true } },
      });
      await store.put(ann, ['working'], [odd]);
      expect(await store.newest(ann, 'working', 1, always)).toEqual([odd]);
    });

    test('stores thousands at once without loss', async () => {
      const many = Array.from({ length: 2_345 }, (_, i) => record(`m${i}`, i % 100));
      await store.put(ann, ['working', 'waiting'], many);
      expect(new Set(ids(await store.oldest(ann, 'waiting', always))).size).toBe(2_345);
      expect(ids(await store.newest(ann, 'working', 1, always))).toEqual(['m999']);
      expect(await store.remove(ann, ['waiting'], ids(many))).toBe(2_345);
    });
  });
}

describe.runIf(withRedis)('Redis', () => {
  test('namespaces are independent, and drop removes only its own', async () => {
    const [first, second] = await Promise.all(
      ['run *', 'run [a-z]'].map((name) => RedisHotStore.open(server!.url, name)),
    );
    await first!.put(ann, ['working'], [record('a', 1)]);
    await second!.put(ann, ['working'], [record('b', 1)]);
    await first!.drop();
    expect(await first!.newest(ann, 'working', 9, always)).toEqual([]);
    expect(ids(await second!.newest(ann, 'working', 9, always))).toEqual(['b']);
    const again = await RedisHotStore.open(server!.url, 'run [a-z]');
    expect(ids(await again.newest(ann, 'working', 9, always))).toEqual(['b']);
    for (const store of [first!, second!, again]) await store.close();
  });
});
