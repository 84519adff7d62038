import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coldStorePromises, DIMENSION, onServer } from '../../../test/fixtures/cold-store-promises.ts';
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import { backend } from '../../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { connectPostgres } from './postgres-cold-store.ts';
import { postgresIndexes } from './postgres-schema.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';

const folder = temporaryFolder();
let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe(`cold store: SQLite and ${backend.name}`, () =>
  coldStorePromises(async (namespace, dimension = DIMENSION, fresh = false) => {
    const path = folder.file(`${namespace}.sqlite`);
    if (fresh) rmSync(path);
    return new SqliteColdStore(path, dimension, backend);
  }));

describe('cold store: PostgreSQL, ivfflat', () =>
  coldStorePromises(onServer(() => server.url, postgresIndexes.ivfflat)));

const given = process.env['TEST_POSTGRES_URL'];
describe.runIf(given !== undefined)('cold store: PostgreSQL of TEST_POSTGRES_URL, ivfflat', () =>
  coldStorePromises(onServer(() => given!, postgresIndexes.ivfflat)),
);

test('a SQLite file and its journal can be read only by their owner', async () => {
  const path = folder.file('private.sqlite');
  const store = new SqliteColdStore(path, DIMENSION, backend);
  const modes = ['', '-wal'].map((suffix) => statSync(path + suffix).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
  await store.close();
});

test('PostgreSQL has only the chosen index', async () => {
  const namespace = randomUUID();
  const connection = connectPostgres(server.url, postgresIndexes.ivfflat, 5_000);
  const planOf = async (): Promise<string> => {
    const { rows } = (await connection.database.execute(
      sql`SELECT indexdef FROM pg_indexes WHERE schemaname LIKE 'dki_bench_%' AND indexname LIKE '%embedding%'`,
    )) as { readonly rows: readonly { readonly indexdef: string }[] };
    return rows.map(({ indexdef }) => indexdef.replace(/^.* USING /, '')).join('; ');
  };
  const first = await onServer(() => server.url, postgresIndexes.ivfflat)(namespace);
  expect(await planOf()).toBe("ivfflat (embedding vector_cosine_ops) WITH (lists='100')");
  expect(first.version).toMatch(/^\d+\.\d+, pgvector 0\.8\.\d+, ivfflat lists=100 probes=100$/);
  const second = await onServer(() => server.url, { kind: 'hnsw', m: 8, efConstruction: 32, efSearch: 20 })(namespace);
  expect(await planOf()).toBe("hnsw (embedding vector_cosine_ops) WITH (m='8', ef_construction='32')");
  await second.drop();
  for (const open of [first, second, connection]) await open.close();
});
