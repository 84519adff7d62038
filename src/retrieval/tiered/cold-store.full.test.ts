import { randomUUID } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ann, coldStorePromises, inPostgres, memory } from '../../../test/fixtures/cold-store-promises.ts';
import { nearest, type OpenColdStore, places, randomVector } from '../../../test/fixtures/cold-store-promises.ts';
import { openPglite } from '../../../test/fixtures/postgres-server.ts';
import { postgresIndexes, searchSettings, type PostgresIndex } from './postgres-schema.ts';

let pglite: PGlite;
beforeAll(async () => {
  pglite = await openPglite();
});
afterAll(() => pglite.close());

/** PostgreSQL in the process, told what a connection to a server would be told. */
const onPglite = (index: PostgresIndex): OpenColdStore =>
  inPostgres(async () => {
    await pglite.exec(searchSettings(index));
    return { address: 'pglite', database: drizzle({ client: pglite }), close: async () => undefined };
  }, index);

// Those of ivfflat are kept to behind a port, in cold-store.test.ts.
describe('cold store: PostgreSQL in the process, hnsw', () => coldStorePromises(onPglite(postgresIndexes.hnsw)));

describe('PostgreSQL', () => {
  const vectors = Array.from({ length: 3_000 }, randomVector);
  const memories = vectors.map((vector, i) => memory(`m${i}`, [vector]));

  test('a search of all lists is exact, one of a single list misses most', async () => {
    const approximate = postgresIndexes['ivfflat-approximate'];
    const store = await onPglite(approximate)(randomUUID());
    await store.replace(ann, memories);
    // Small tables are read whole unless that is forbidden.
    await pglite.exec('ANALYZE; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
    const queries = Array.from({ length: 30 }, randomVector);
    const recallAt10 = async (index: PostgresIndex): Promise<number> => {
      await pglite.exec(searchSettings(index));
      let found = 0;
      for (const query of queries) {
        const hits = new Set(places(await store.search(ann, query, 10, [])));
        found += nearest(vectors, query, 10).filter(({ place }) => hits.has(place)).length;
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

  test.each(['ivfflat-approximate', 'hnsw'] as const)('%s: the planner uses the index by itself', async (name) => {
    const store = await onPglite(postgresIndexes[name])(randomUUID());
    try {
      await store.replace(ann, memories);
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
