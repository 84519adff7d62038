import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasRedisServer, RedisServer } from '../../../test/fixtures/redis-server.ts';
import { type ColdStore, deriveUuid } from './cold-store.ts';
import { InProcessHotStore } from './hot-store.ts';
import type { MemoryRecord } from './memory-record.ts';
import { RedisHotStore } from './redis-hot-store.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';
import { TieredMemory } from './tiered-memory.ts';
import { replacing } from '../../../test/fixtures/replacing.ts';
import { backend, embeddings } from '../../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const openCold = async (): Promise<SqliteColdStore> =>
  new SqliteColdStore(folder.file(`${randomUUID()}.sqlite`), await embeddings.dimension(), backend);

let hot: InProcessHotStore;
let cold: SqliteColdStore;
let memory: TieredMemory;
beforeEach(async () => {
  embeddings.clear();
  hot = new InProcessHotStore();
  cold = await openCold();
  memory = new TieredMemory({ hot, cold, embeddings });
  return () => cold.close();
});

const record = (memoryId: string, content: string, more: Partial<MemoryRecord> = {}): MemoryRecord => {
  return { memoryId, content, metadata: {}, createdAtMs: 1_000, ...more };
};
const padded = (text: string): string => text.padEnd(50, '.');
const ask = (query: string, { group = 'ann', now = 1e9, limit = 5, threshold = -1 } = {}) =>
  memory.retrieve(group, { query, limit, threshold, now: new Date(now) });
const seen = async (...query: Parameters<typeof ask>) =>
  (await ask(...query)).items.map(({ memoryId, tier }) => `${tier} ${memoryId}`);

describe('the three layers', () => {
  test('never finds quarantined records, finds admitted ones at once and promoted ones for good', async () => {
    const rex = (confidence: number) =>
      record('doubtful', padded('My dog is called Rex'), { metadata: { confidence } });
    await memory.quarantine('ann', [
      record('good', padded('My cat is called Miso'), { metadata: { confidence: 0.8 } }),
      rex(0.5),
      record('noise', 'ok'),
    ]);
    expect(await seen('What is my cat called?')).toEqual([]);
    expect(await memory.admit('ann')).toEqual({ admitted: 1, refused: 1, ignored: 1 });
    expect(await seen('What is my cat called?')).toEqual(['hot good']);
    expect(await cold.count(deriveUuid('ann'))).toBe(0);
    expect(await memory.promote('ann')).toBe(1);
    expect(await memory.promote('ann')).toBe(0);
    expect(await cold.count(deriveUuid('ann'))).toBe(1);
    // Noise is gone, doubt stays in quarantine, to be looked at again.
    expect(await memory.admit('ann')).toEqual({ admitted: 0, refused: 1, ignored: 0 });
    await memory.quarantine('ann', [rex(0.9)]);
    expect(await memory.admit('ann')).toEqual({ admitted: 1, refused: 0, ignored: 0 });
    expect(await seen('Rex', { now: 1_000 })).toEqual(['hot good', 'hot doubtful']);
  });

  test('the ten newest come from working memory for any query; the nearest others from long-term memory', async () => {
    const records = Array.from({ length: 15 }, (_, i) => record(`m${i}`, `I own ${i} bicycles.`, { createdAtMs: i }));
    await memory.load('ann', [...records, record('tea', 'I drink green tea.', { createdAtMs: -1 })]);
    const { items } = await ask('Do I drink tea?', { limit: 2 });
    const newest = Array.from({ length: 10 }, (_, i) => ({ memoryId: `m${14 - i}`, score: 1 }));
    expect(items).toMatchObject([...newest, { memoryId: 'tea' }, {}]);
    expect(items[10]!.score).toBeGreaterThan(items[11]!.score);
    // Of an earlier day, others are the newest, and what was hot is found by meaning.
    expect((await seen('I own 14 bicycles.', { now: 9, limit: 1 })).slice(9)).toEqual(['hot m0', 'cold m14']);
    expect(await seen('Do I drink tea?', { limit: 0 })).toEqual([]);
    expect(await seen('Do I drink tea?', { threshold: 0.99 })).toHaveLength(10);
    expect((await seen('I drink green tea.', { threshold: 0.99 }))[10]).toBe('cold tea');
  });

  test('splits long records, and embeds a batch in one call', async () => {
    const chapter = (_: unknown, i: number) => `Chapter ${i} is about the city of Leeds and its trams. `;
    const text = Array.from({ length: 60 }, chapter).join('');
    const before = embeddings.stats().texts;
    await memory.load('ann', [record('book', text), record('tea', 'I drink green tea.')]);
    expect(embeddings.stats().texts - before).toBe(9);
    const { items } = await ask('trams', { now: 0, limit: 9 });
    expect(items.map(({ memoryId }) => memoryId).sort()).toEqual([...Array.from({ length: 8 }, () => 'book'), 'tea']);
    expect(items.every(({ content }) => content.length <= 500)).toBe(true);
  });

  test('returns the verdict of the filter on loaded records, by characters', async () => {
    const records = [record('a', 'short'), record('b', padded('long')), record('c', '猫'.repeat(50))];
    expect(await memory.load('ann', records)).toEqual(['ignored', 'admitted', 'admitted']);
    expect(await seen('short')).toHaveLength(3);
  });

  test('of records with one id in a batch, the last one is stored', async () => {
    await memory.load('ann', [record('a', 'I drink tea.'), record('a', 'I drink coffee.')]);
    const { items } = await ask('drink', { now: 0 });
    expect(items.map(({ content }) => content)).toEqual(['I drink coffee.']);
  });

  test('a forgotten memory is in none of the layers', async () => {
    await memory.load('ann', [record('a', 'I drink tea.')]);
    await memory.quarantine('ann', [record('a', padded('I drink tea'))]);
    expect(await memory.forget('bob', 'a')).toBe(false);
    expect(await memory.forget('ann', 'a')).toBe(true);
    expect(await memory.forget('ann', 'a')).toBe(false);
    expect(await memory.admit('ann')).toEqual({ admitted: 0, refused: 0, ignored: 0 });
    expect(await seen('tea')).toEqual([]);
    expect(await seen('tea', { now: 0 })).toEqual([]);
  });
});

describe('names and texts from outside', () => {
  const texts = ['', ' ', "'; DROP TABLE memories; --", '*', '%', 'a:order', '../../x', '{ann}', '😺', '__proto__'];
  const hostile = [...texts, '\0', '\ud800', '\ud801'];

  test.each(['working memory in the process', 'Redis'])('a group may be called anything: %s', async (kind) => {
    if (kind === 'Redis' && !hasRedisServer()) return;
    await using server = kind === 'Redis' ? await RedisServer.start() : undefined;
    const store = server === undefined ? hot : await RedisHotStore.open(server.url, 'x');
    memory = new TieredMemory({ hot: store, cold, embeddings });
    for (const [i, group] of hostile.entries()) await memory.load(group, [record('m', `The secret is ${i}.`)]);
    for (const [i, group] of hostile.entries()) {
      for (const now of [0, 1e9]) {
        const { items } = await ask('The secret', { group, now });
        expect(items.map(({ content }) => content)).toEqual([`The secret is ${i}.`]);
      }
    }
    expect(await memory.forget('*', 'm')).toBe(true);
    expect(await seen('The secret', { group: '%' })).toHaveLength(1);
    await store.close();
  });

  const nul = 'memory "m" holds a NUL character, which databases do not store';
  test.each([
    ['content', record('m', 'a\0b'), nul],
    ['id', record('\ud800', 'x'), 'memory "\\ud800" holds half of a surrogate pair, which databases do not store'],
    ['metadata', record('m', 'x', { metadata: { deep: [{ '\0': 1 }] } }), nul],
    ['time', record('m', 'x', { createdAtMs: NaN }), 'memory "m" has an invalid creation time'],
  ])('refuses what a database would change: %s', async (_, bad, message) => {
    await expect(memory.load('ann', [record('ok', 'fine'), bad])).rejects.toThrow(message);
    expect(await seen('fine')).toEqual([]);
  });
});

describe('frequent queries', () => {
  test('are answered from the cache until a write', async () => {
    await memory.load('ann', [record('a', 'I drink tea.')]);
    const first = await ask('tea', { now: 0 });
    expect(first.cached).toBe(false);
    const texts = embeddings.stats().texts;
    const again = await ask('tea', { now: 0 });
    expect(again).toMatchObject({ cached: true, items: first.items, timingsMs: { embedding: 0 } });
    expect(embeddings.stats().texts).toBe(texts);
    // Another user, limit or working memory makes it another query.
    expect((await ask('tea', { now: 0, group: 'bob' })).cached).toBe(false);
    expect((await ask('tea', { now: 0, limit: 4 })).cached).toBe(false);
    expect(await seen('tea')).toEqual(['hot a']);
    // The threshold applies to cached results too.
    expect(await seen('tea', { now: 0, threshold: 1 })).toEqual([]);
    await memory.load('ann', [record('b', 'I drink black tea.')]);
    expect(await seen('tea', { now: 0 })).toHaveLength(2);
    await memory.forget('ann', 'a');
    expect(await seen('tea', { now: 0 })).toEqual(['cold b']);
    memory.reset();
    expect((await ask('tea', { now: 0 })).cached).toBe(false);
  });
});

describe.runIf(hasRedisServer())('a server that is killed', () => {
  test('between the steps of a promotion: nothing is lost or stored twice', async () => {
    await using server = await RedisServer.start();
    const store = await RedisHotStore.open(server.url, 'x', 5_000);
    memory = new TieredMemory({ hot: store, cold: killing(cold, server), embeddings });
    const bicycles = (_: unknown, i: number) => record(`m${i}`, padded(`I own ${i} bicycles`), { createdAtMs: i });
    await memory.quarantine('ann', Array.from({ length: 20 }, bicycles));
    expect(await memory.admit('ann')).toMatchObject({ admitted: 20 });
    // Long-term memory has them when Redis dies, which cannot be told that they wait no longer.
    await expect(memory.promote('ann')).rejects.toMatchObject({ code: 'database' });
    await expect(ask('bicycles')).rejects.toMatchObject({ code: 'database' });
    await server.restart();
    expect(await memory.promote('ann')).toBe(20);
    expect(await memory.promote('ann')).toBe(0);
    const found = await seen('I own bicycles', { limit: 99 });
    expect(found).toHaveLength(20);
    expect(new Set(found.map((place) => place.split(' ')[1])).size).toBe(20);
    await store.close();
  });

  /** The same store, but Redis dies as soon as it has written. */
  function killing(store: ColdStore, server: RedisServer): ColdStore {
    let alive = true;
    return replacing(store, {
      replace: async (...parts) => {
        await store.replace(...parts);
        if (alive) await server.kill();
        alive = false;
      },
    });
  }
});
