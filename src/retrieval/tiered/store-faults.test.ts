import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { benchFailure, expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import { hasRedisServer, RedisServer } from '../../../test/fixtures/redis-server.ts';
import { type ColdMemory, deriveUuid } from './cold-store.ts';
import type { MemoryRecord } from './memory-record.ts';
import { connectPostgres, PostgresColdStore } from './postgres-cold-store.ts';
import { postgresIndexes } from './postgres-schema.ts';
import { RedisHotStore } from './redis-hot-store.ts';

const ann = deriveUuid('ann');
const always = Number.MAX_SAFE_INTEGER;
/** A port without a listener. */
const NOBODY = '127.0.0.1:1';

describe.runIf(hasRedisServer())('Redis', () => {
  const records = Array.from({ length: 1_200 }, (_, i): MemoryRecord => {
    return { memoryId: `m${i}`, content: `content ${i}`, metadata: {}, createdAtMs: i };
  });

  test('that is not there is named, without the password', async () => {
    const opening = RedisHotStore.open(`redis://me:secret@${NOBODY}/3`, 'x');
    const message = `redis://${NOBODY}/3: connecting failed: connect ECONNREFUSED ${NOBODY}`;
    await expectFailure(opening, 'database', message, /server runs/);
  });

  const addresses = ['127.0.0.1:6379', 'http://127.0.0.1', 'postgres://a:secret@b/c', ''];
  test.each(addresses)('refuses the address "%s"', async (address) => {
    const hint = /^give redis:\/\/… or rediss:\/\/…; in a password/;
    await expectFailure(RedisHotStore.open(address, 'x'), 'bad-option', '--hot: not a valid server URL', hint);
  });

  test('killed during a write: the call fails, and repeated stores each record once', async () => {
    await using server = await RedisServer.start();
    const store = await RedisHotStore.open(server.url, 'x', 5_000);
    const writing = benchFailure(store.put(ann, ['working', 'waiting'], records));
    await server.kill();
    expect(await writing).toMatchObject({ code: 'database' });
    expect(await benchFailure(store.newest(ann, 'working', 5, always))).toMatchObject({ code: 'database' });
    await server.restart();
    await store.put(ann, ['working', 'waiting'], records);
    expect(await store.oldest(ann, 'waiting', always)).toEqual(records);
    expect(await store.newest(ann, 'working', 2, always)).toEqual([records[1_199], records[1_198]]);
    // Acknowledged writes survive a power failure.
    await server.kill();
    await server.restart();
    expect(await store.oldest(ann, 'waiting', always)).toEqual(records);
    await store.close();
  });

  test('a call to a server that hangs fails, and succeeds once it continues', async () => {
    await using server = await RedisServer.start();
    const store = await RedisHotStore.open(server.url, 'x', 400);
    server.pause();
    const failure = await benchFailure(store.put(ann, ['working'], records.slice(0, 3)));
    server.resume();
    const message = `${server.url}: writing failed: Command timed out`;
    expect(failure).toMatchObject({ code: 'database', message });
    await store.put(ann, ['working'], records.slice(0, 3));
    expect(await store.oldest(ann, 'working', always)).toEqual(records.slice(0, 3));
    await store.close();
  });
});

describe('PostgreSQL', () => {
  const index = postgresIndexes.ivfflat;
  const memories = Array.from({ length: 700 }, (_, i): ColdMemory => {
    const embedding = Float32Array.from([Math.cos(i / 1_000), Math.sin(i / 1_000)]);
    return { memoryId: `m${i}`, metadata: {}, createdAtMs: i, chunks: [{ content: `content ${i}`, embedding }] };
  });
  const { embedding } = memories[0]!.chunks[0]!;
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (url: string, timeoutMs: number): Promise<PostgresColdStore> =>
    PostgresColdStore.open(connectPostgres(url, index, timeoutMs), {
      ...{ namespace: randomUUID(), dimension: 2, index, fresh: false, timeoutMs },
    });

  test('that is not there is named, without the password', async () => {
    const reason = `opening long-term memory failed: connect ECONNREFUSED ${NOBODY}`;
    const opening = open(`postgres://me:secret@${NOBODY}/db`, 5_000);
    await expectFailure(opening, 'database', `postgres://${NOBODY}/db: ${reason}`);
    const other = () => connectPostgres('redis://me:secret@x', index, 1);
    await expectFailure(other, 'bad-option', '--cold: not a valid server URL');
  });

  test.each([
    ['before it wrote the second batch', /content 600/, 'before'],
    ['before it committed', /commit/i, 'before'],
    ['after it committed, before it said so', /commit/i, 'after'],
  ] as const)('killed %s: the call fails, and made again leaves each chunk once', async (_, message, when) => {
    const store = await open(server.url, 5_000);
    await store.replace(ann, memories.slice(0, 10));
    server.dieAt(message, when);
    expect(await benchFailure(store.replace(ann, memories))).toMatchObject({ code: 'database' });
    await server.kill();
    await expectFailure(store.search(ann, embedding, 5, []), 'database', /searching failed/);
    await server.restart();
    // All or none.
    expect(await store.count(ann)).toBe(when === 'after' ? 700 : 10);
    await store.replace(ann, memories);
    expect(await store.count(ann)).toBe(700);
    const found = await store.search(ann, memories[699]!.chunks[0]!.embedding, 700, []);
    expect(found.map(({ memoryId }) => memoryId)).toEqual(memories.map(({ memoryId }) => memoryId).reverse());
    await store.drop();
    await store.close();
  });

  test('a call to a server that hangs fails, and succeeds once it is back', async () => {
    const store = await open(server.url, 400);
    await store.replace(ann, memories.slice(0, 3));
    server.pause();
    const message = `${server.url.replace('postgres:secret@', '')}: searching failed: no answer within 800 ms`;
    await expectFailure(store.search(ann, embedding, 5, []), 'database', message);
    await server.kill();
    await server.restart();
    expect(await store.search(ann, embedding, 5, [])).toHaveLength(3);
    await store.drop();
    await store.close();
  });
});
