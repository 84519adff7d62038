import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pglite';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPglite, PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import { chooseVectorBackend } from '../vectors/vector-backend.ts';
import type { ColdHit, ColdMemory, ColdStore } from './cold-store.ts';
import { uuidOf } from './memory-record.ts';
import { PostgresColdStore } from './postgres-cold-store.ts';
import { connectPostgres, type PostgresConnection } from './postgres-connection.ts';
import { postgresIndexes, searchSettings, type PostgresIndex } from './postgres-index.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';

const DIMENSION = 16;
const { backend } = chooseVectorBackend();
const folder = mkdtempSync(join(tmpdir(), 'dki-cold-'));
let pglite: PGlite;
let server: PostgresServer;
beforeAll(async () => {
  [pglite, server] = await Promise.all([openPglite(), PostgresServer.start()]);
});
afterAll(async () => {
  await pglite.close();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** PostgreSQL in the process, told what a connection to a server would be told. */
async function pgliteConnection(index: PostgresIndex): Promise<PostgresConnection> {
  await pglite.exec(searchSettings(index));
  return { address: 'pglite', database: drizzle({ client: pglite }), close: async () => undefined };
}

const generator = xoroshiro128plus(11);
function randomVector(): Float32Array {
  const values = Array.from({ length: DIMENSION }, () => generator.next() / 2 ** 31);
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
const axis = (index: number): Float32Array => Float32Array.from({ length: DIMENSION }, (_, i) => (i === index ? 1 : 0));
const zeros = new Float32Array(DIMENSION);

const memory = (memoryId: string, vectors: readonly Float32Array[], more: Partial<ColdMemory> = {}): ColdMemory => ({
  memoryId,
  metadata: {},
  createdAtMs: 1_000,
  chunks: vectors.map((embedding, chunk) => ({ content: `${memoryId}, part ${chunk}`, embedding })),
  ...more,
});
const places = (hits: readonly ColdHit[]) => hits.map(({ memoryId, chunk }) => `${memoryId}#${chunk}`);
const ann = uuidOf('ann');
const bob = uuidOf('bob');

interface Implementation {
  readonly name: string;
  readonly there: boolean;
  readonly open: (namespace: string, dimension?: number, fresh?: boolean) => Promise<ColdStore>;
}

const onPglite = (index: PostgresIndex): Implementation['open'] =>
  async function open(namespace, dimension = DIMENSION, fresh = false) {
    return PostgresColdStore.open(await pgliteConnection(index), { namespace, dimension, index, fresh });
  };
const onServer = (url: () => string, index: PostgresIndex): Implementation['open'] =>
  function open(namespace, dimension = DIMENSION, fresh = false) {
    const connection = connectPostgres(url(), index, 5_000);
    return PostgresColdStore.open(connection, { namespace, dimension, index, fresh });
  };

const implementations: readonly Implementation[] = [
  {
    name: `SQLite and ${backend.name}`,
    there: true,
    open: async (namespace, dimension = DIMENSION, fresh = false) => {
      const path = join(folder, `${namespace}.sqlite`);
      if (fresh) rmSync(path);
      return new SqliteColdStore(path, dimension, backend);
    },
  },
  { name: 'PostgreSQL in the process, ivfflat', there: true, open: onPglite(postgresIndexes.ivfflat) },
  { name: 'PostgreSQL in the process, hnsw', there: true, open: onPglite(postgresIndexes.hnsw) },
  { name: 'PostgreSQL behind a port, ivfflat', there: true, open: onServer(() => server.url, postgresIndexes.ivfflat) },
  {
    name: 'PostgreSQL of TEST_POSTGRES_URL, ivfflat',
    there: process.env['TEST_POSTGRES_URL'] !== undefined,
    open: onServer(() => process.env['TEST_POSTGRES_URL']!, postgresIndexes.ivfflat),
  },
];

describe.each(implementations)('cold store: $name', ({ there, open }) => {
  describe.runIf(there)('as every one', () => {
    let namespace: string;
    let store: ColdStore;
    beforeEach(async () => {
      namespace = randomUUID();
      store = await open(namespace);
      return async () => {
        await store.drop();
        await store.close();
      };
    });

    test('ranks as the definition of the cosine does, with its scores to 1e-6', async () => {
      const vectors = Array.from({ length: 300 }, randomVector);
      await store.replace(
        ann,
        vectors.map((vector, i) => memory(`m${i}`, [vector])),
      );
      for (const query of [vectors[7]!, randomVector(), randomVector()]) {
        const expected = vectors
          .map((vector, i) => ({ id: `m${i}#0`, score: vector.reduce((sum, value, d) => sum + value * query[d]!, 0) }))
          .sort((a, b) => b.score - a.score)
          .slice(0, 20);
        const found = await store.search(ann, query, 20, []);
        expect(places(found)).toEqual(expected.map(({ id }) => id));
        for (const [i, { score }] of found.entries()) expect(Math.abs(score - expected[i]!.score)).toBeLessThan(1e-6);
      }
      expect(await store.count(ann)).toBe(300);
    });

    test('gives back texts, metadata and time as they were', async () => {
      const odd = memory('o\'dd"; --', [], {
        metadata: { value: '绿茶', nested: { list: [1, null, 'x'], 'key with "': true } },
        createdAtMs: Date.parse('2025-11-05T10:00:00.123Z'),
        chunks: [{ content: "我喜欢绿茶。\n'); DROP TABLE memories; -- 😺 \\x", embedding: axis(2) }],
      });
      await store.replace(ann, [odd]);
      expect(await store.search(ann, axis(2), 5, [])).toEqual([
        {
          memoryId: odd.memoryId,
          chunk: 0,
          content: odd.chunks[0]!.content,
          metadata: odd.metadata,
          createdAtMs: odd.createdAtMs,
          score: 1,
        },
      ]);
    });

    test('a memory kept again takes the place of the first with all its chunks, and kept twice is there once', async () => {
      await store.replace(ann, [memory('a', [axis(0), axis(1), axis(2)]), memory('b', [axis(0)])]);
      expect(places(await store.search(ann, axis(0), 2, []))).toEqual(['a#0', 'b#0']);
      const again = [memory('a', [axis(0)], { metadata: { version: 2 } })];
      await store.replace(ann, again);
      await store.replace(ann, again);
      const found = await store.search(ann, axis(0), 9, []);
      // It is the youngest now.
      expect(places(found)).toEqual(['b#0', 'a#0']);
      expect(found[1]?.metadata).toEqual({ version: 2 });
      expect(await store.count(ann)).toBe(2);
      await store.replace(ann, [memory('a', [])]);
      expect(places(await store.search(ann, axis(0), 9, []))).toEqual(['b#0']);
      expect(await store.count(ann)).toBe(1);
    });

    test('of one score what was kept first comes first, also where the cut goes through them', async () => {
      const names = Array.from({ length: 40 }, (_, i) => `m${(i * 7) % 40}`);
      await store.replace(
        ann,
        names.slice(0, 15).map((name) => memory(name, [axis(3)])),
      );
      await store.replace(
        ann,
        names.slice(15).map((name) => memory(name, [axis(3)])),
      );
      expect(places(await store.search(ann, axis(3), 20, []))).toEqual(names.slice(0, 20).map((name) => `${name}#0`));
    });

    test('passes over the memories that it is told to, however many chunks they have', async () => {
      const big = memory(
        'big',
        Array.from({ length: 30 }, () => axis(0)),
      );
      await store.replace(ann, [big, memory('a', [axis(1)]), memory('b', [axis(2)])]);
      const query = Float32Array.from([0.8, 0.6, ...zeros.slice(2)]);
      expect(places(await store.search(ann, query, 2, ['big']))).toEqual(['a#0', 'b#0']);
      expect(places(await store.search(ann, query, 2, ['big', 'a', 'nobody']))).toEqual(['b#0']);
      expect(places(await store.search(ann, query, 1, []))).toEqual(['big#0']);
    });

    test('zeros are kept, found by nothing, and find nothing', async () => {
      await store.replace(ann, [memory('nothing', [zeros]), memory('half', [zeros, axis(4)])]);
      expect(places(await store.search(ann, axis(4), 9, []))).toEqual(['half#1']);
      expect(await store.search(ann, zeros, 9, [])).toEqual([]);
      expect(await store.count(ann)).toBe(2);
      expect(await store.remove(ann, 'nothing')).toBe(true);
    });

    test('scores what points the other way below zero, and gives nothing for a count of 0', async () => {
      await store.replace(ann, [memory('a', [axis(5)])]);
      const [hit] = await store.search(
        ann,
        axis(5).map((value) => -value),
        1,
        [],
      );
      expect(hit?.score).toBeCloseTo(-1, 6);
      expect(await store.search(ann, axis(5), 0, [])).toEqual([]);
    });

    test('groups know nothing of each other', async () => {
      await store.replace(ann, [memory('a', [axis(0)])]);
      await store.replace(
        bob,
        Array.from({ length: 50 }, (_, i) => memory(i === 0 ? 'a' : `b${i}`, [axis(0)])),
      );
      expect(places(await store.search(ann, axis(0), 9, []))).toEqual(['a#0']);
      expect(await store.remove(ann, 'b1')).toBe(false);
      expect(await store.remove(ann, 'a')).toBe(true);
      expect(await store.remove(ann, 'a')).toBe(false);
      expect(await store.search(ann, axis(0), 9, [])).toEqual([]);
      expect(await store.count(bob)).toBe(50);
      expect(await store.search(uuidOf('eve'), axis(0), 9, [])).toEqual([]);
    });

    test('who opens it again finds everything, in the same order', async () => {
      await store.replace(ann, [memory('b', [axis(0)]), memory('a', [axis(0)]), memory('c', [axis(0), zeros])]);
      await store.replace(ann, [memory('b', [axis(0)])]);
      await store.close();
      store = await open(namespace);
      expect(places(await store.search(ann, axis(0), 9, []))).toEqual(['a#0', 'c#0', 'b#0']);
      await store.replace(ann, [memory('a', [axis(1)])]);
      expect(places(await store.search(ann, axis(0), 2, []))).toEqual(['c#0', 'b#0']);
      await store.close();
      store = await open(namespace, DIMENSION, true);
      expect(await store.count(ann)).toBe(0);
    });

    test('names both dimensions where it was filled by another embedder', async () => {
      await store.replace(ann, [memory('a', [axis(0)])]);
      await store.close();
      await expect(async () => open(namespace, 24)).rejects.toThrow(
        /holds vectors of 16 numbers, the embedder gives 24$/,
      );
      store = await open(namespace);
      expect(await store.count(ann)).toBe(1);
    });
  });
});

describe('PostgreSQL', () => {
  test('searches by the index it was told, and by no other', async () => {
    const namespace = randomUUID();
    const database = drizzle({ client: pglite });
    const planOf = async (): Promise<string> => {
      const { rows } = await database.execute<{ indexname: string; indexdef: string }>(
        sql`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname LIKE 'dki_bench_%' AND indexname LIKE '%embedding%'`,
      );
      return rows.map(({ indexdef }) => indexdef.replace(/^.* USING /, '')).join('; ');
    };
    const first = await onPglite(postgresIndexes.ivfflat)(namespace);
    expect(await planOf()).toBe("ivfflat (embedding vector_cosine_ops) WITH (lists='100')");
    expect(first.version).toMatch(/^\d+\.\d+, pgvector 0\.8\.\d+, ivfflat lists=100 probes=100$/);
    const second = await onPglite({ kind: 'hnsw', m: 8, efConstruction: 32, efSearch: 20 })(namespace);
    expect(await planOf()).toBe("hnsw (embedding vector_cosine_ops) WITH (m='8', ef_construction='32')");
    await second.drop();
  });

  test('looks through all lists exactly, through one of them it misses most', async () => {
    const namespace = randomUUID();
    const vectors = Array.from({ length: 3_000 }, randomVector);
    const approximate = postgresIndexes['ivfflat-approximate'];
    const store = await onPglite(approximate)(namespace);
    await store.replace(
      ann,
      vectors.map((vector, i) => memory(`m${i}`, [vector])),
    );
    // Small tables are read whole where nobody forbids it.
    await pglite.exec('ANALYZE; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
    const queries = Array.from({ length: 30 }, randomVector);
    const recallAt10 = async (index: PostgresIndex): Promise<number> => {
      await pglite.exec(searchSettings(index));
      let found = 0;
      for (const query of queries) {
        const best = vectors
          .map((vector, i) => ({ id: `m${i}#0`, score: vector.reduce((sum, value, d) => sum + value * query[d]!, 0) }))
          .sort((a, b) => b.score - a.score)
          .slice(0, 10);
        const hits = new Set(places(await store.search(ann, query, 10, [])));
        found += best.filter(({ id }) => hits.has(id)).length;
      }
      return found / (10 * queries.length);
    };
    try {
      expect(await recallAt10(postgresIndexes.ivfflat)).toBe(1);
      const share = await recallAt10(approximate);
      expect(share).toBeGreaterThan(0.05);
      expect(share).toBeLessThan(0.6);
    } finally {
      await pglite.exec('RESET ALL');
      await store.drop();
    }
  });

  test.each(['ivfflat-approximate', 'hnsw'] as const)('%s: searches its index of itself', async (name) => {
    const store = await onPglite(postgresIndexes[name])(randomUUID());
    const vectors = Array.from({ length: 3_000 }, randomVector);
    try {
      await store.replace(
        ann,
        vectors.map((vector, i) => memory(`m${i}`, [vector])),
      );
      await store.search(ann, randomVector(), 5, ['m0']);
      await pglite.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pglite.query<{ searches: number }>(
        `SELECT idx_scan::int AS searches FROM pg_stat_user_indexes WHERE indexrelname LIKE 'memories_embedding_%'`,
      );
      expect(rows).toEqual([{ searches: 1 }]);
    } finally {
      await store.drop();
    }
  });
});
