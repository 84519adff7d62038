import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import { hasRedisServer, RedisServer } from '../../../test/fixtures/redis-server.ts';
import { openTieredRetriever, type TieredSettings } from './open-tiered-retriever.ts';
import type { TieredRetriever } from './tiered-retriever.ts';
import { backend, embeddings } from '../../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const open = (settings: Partial<TieredSettings> = {}): Promise<TieredRetriever> =>
  openTieredRetriever({
    coldIndex: 'ivfflat',
    ...settings,
    embeddings,
    backend,
    namespace: 'run',
    folder: folder.file('run'),
  });
const day = (n: number): string => new Date(Date.UTC(2026, 0, n)).toISOString();
const fact = (n: number, userId = 'ann') => {
  return { memoryId: `m${n}`, userId, content: `I own ${n} bicycles.`, metadata: { createdAt: day(n), value: n } };
};
const facts = (count: number) => Array.from({ length: count }, (_, i) => fact(i + 1));
const ask = { userId: 'ann', topK: 2, threshold: -1 };

test('returns the ten newest up to the time of the query, then the nearest of the others, and counts both', async () => {
  const retriever = await open();
  await retriever.addMemories([...facts(14), fact(20), fact(3, 'bob')]);
  const found = await retriever.retrieve('I own 2 bicycles.', { ...ask, now: new Date(day(14)) });
  expect(found.memories.map(({ memoryId }) => memoryId).slice(0, 11)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `m${14 - i}`),
    'm2',
  ]);
  expect(found.memories[10]).toEqual({
    memoryId: 'm2',
    content: 'I own 2 bicycles.',
    score: expect.closeTo(1, 6),
    metadata: { createdAt: day(2), value: 2, userId: 'ann' },
  });
  expect(found).toMatchObject({ strategy: 'tiered', flags: [], details: { hot: 10, coldChunks: 2 } });
  expect(retriever.stats()).toMatchObject({
    hot: { name: 'in-process' },
    cold: { name: `sqlite+${backend.name}` },
    wouldBeFiltered: { admitted: 0, refused: 0, ignored: 16 },
  });
  await retriever.close();
  expect(existsSync(folder.file('run'))).toBe(false);
});

test('a memory with many chunks is one result, at its best rank', async () => {
  const retriever = await open();
  const content = Array.from({ length: 50 }, (_, i) => `Chapter ${i} is about bicycles of all kinds. `).join('');
  await retriever.addMemories([{ memoryId: 'book', userId: 'ann', content, metadata: { createdAt: day(9) } }]);
  await retriever.addMemories([fact(1), fact(9)]);
  const options = { ...ask, topK: 4, now: new Date(day(2)) };
  const { memories, details } = await retriever.retrieve('chapter bicycles', options);
  const ids = memories.map(({ memoryId }) => memoryId);
  expect(ids[0]).toBe('m1');
  expect(ids.filter((id) => id === 'book')).toEqual(['book']);
  expect(new Set(ids).size).toBe(ids.length);
  expect(details).toEqual({ hot: 1, coldChunks: 4 });
  await retriever.close();
});

test('flags a repeated query as cached, until it is reset', async () => {
  const retriever = await open();
  await retriever.addMemories([fact(1)]);
  const flags = async () => (await retriever.retrieve('bicycles', ask)).flags.map(({ flag }) => flag);
  expect([await flags(), await flags()]).toEqual([[], ['cached']]);
  await retriever.reset();
  expect(await flags()).toEqual([]);
  await retriever.close();
});

test.runIf(hasRedisServer())('retrieves the same from servers as without, and leaves nothing there', async () => {
  await using redis = await RedisServer.start();
  await using postgres = await PostgresServer.start();
  const there = await open({ hot: redis.url, cold: postgres.url });
  const here = await open();
  const found = [];
  for (const retriever of [here, there]) {
    await retriever.addMemories(facts(30));
    await retriever.removeMemory('m29', 'ann');
    const { memories } = await retriever.retrieve('I own 3 bicycles.', { ...ask, topK: 5, now: new Date(day(29)) });
    found.push(memories.map(({ score, ...memory }) => ({ ...memory, score: score.toFixed(5) })));
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[0]).toHaveLength(15);
  expect(there.stats()).toMatchObject({ hot: { name: 'redis' }, cold: { name: 'postgres' } });
  await Promise.all([here.close(), there.close()]);
  // Data of a killed process does not come back either.
  const killed = await open({ hot: redis.url, cold: postgres.url });
  await killed.addMemories([fact(1)]);
  const next = await open({ hot: redis.url, cold: postgres.url });
  expect((await next.retrieve('bicycles', ask)).memories).toEqual([]);
  await next.close();
  expect(await redis.keys()).toEqual([]);
  expect(await postgres.schemas()).toEqual([]);
  await killed.close();
});

test.runIf(hasRedisServer())('fails to open without a server, and flags failures when a server goes away', async () => {
  await using redis = await RedisServer.start();
  const retriever = await open({ hot: redis.url });
  await retriever.addMemories([fact(1)]);
  await redis.kill();
  await expect(open({ hot: redis.url })).rejects.toMatchObject({ code: 'database' });
  const reason = expect.stringContaining(`${redis.url}: reading failed`) as string;
  const failed = { memories: [], flags: [{ flag: 'failed', reason }] };
  expect(await retriever.retrieve('bicycles', ask)).toMatchObject(failed);
  expect(retriever.stats()).toMatchObject({ failures: 1 });
  await expect(retriever.addMemories([fact(2)])).rejects.toMatchObject({ code: 'database' });
  await redis.restart();
  await retriever.addMemories([fact(2)]);
  expect(await retriever.retrieve('bicycles', ask)).toMatchObject({
    memories: [{ memoryId: 'm2' }, { memoryId: 'm1' }],
  });
  await retriever.close();
});
