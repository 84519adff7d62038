import { type SQL, sql } from 'drizzle-orm';
import { bigserial, integer, jsonb, type PgDatabase, type PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { pgSchema, text, timestamp, uuid, vector } from 'drizzle-orm/pg-core';
import { type ColdHit, deriveUuid } from './cold-store.ts';
import { dimensionMismatch } from './store-error.ts';

/** Drizzle's interface to either kind of PostgreSQL. @internal */
export type PostgresDatabase = PgDatabase<PgQueryResultHKT>;

/** Vector index of PostgreSQL: lists of near vectors (IVFFlat), or a graph (HNSW). */
export type PostgresIndex =
  | {
      readonly kind: 'ivfflat';
      readonly lists: number;
      /** Lists read by a search: pgvector's default is 1; all lists are exact. */
      readonly probes: number;
    }
  | {
      readonly kind: 'hnsw';
      /** Connections a node. */
      readonly m: number;
      /** Candidates examined while building and while searching the graph. */
      readonly efConstruction: number;
      readonly efSearch: number;
    };

/** Indexes by the names of `--cold-index`: IVFFlat with exact search, IVFFlat with pgvector's default, HNSW. */
export const postgresIndexes = {
  ivfflat: { kind: 'ivfflat', lists: 100, probes: 100 },
  'ivfflat-approximate': { kind: 'ivfflat', lists: 100, probes: 1 },
  hnsw: { kind: 'hnsw', m: 16, efConstruction: 64, efSearch: 40 },
} as const satisfies Readonly<Record<string, PostgresIndex>>;

/** Returns the statement that sets up a connection for searches. */
export function searchSettings(index: PostgresIndex): string {
  return index.kind === 'ivfflat' ? `SET ivfflat.probes = ${index.probes}` : `SET hnsw.ef_search = ${index.efSearch}`;
}

export interface PostgresSchemaOptions {
  /** Separates the data of one client from all others on the server. */
  readonly namespace: string;
  /** Numbers in a vector. */
  readonly dimension: number;
  readonly index: PostgresIndex;
  /** Empties the namespace first. */
  readonly fresh: boolean;
}

/** Names the schema of a namespace, so that it needs no quotes. */
export function schemaName(namespace: string): string {
  return `dki_bench_${deriveUuid(namespace).replaceAll('-', '').slice(0, 16)}`;
}

/** Tables of groups and memories; a row's id derives from group, memory and chunk, so that nothing is written twice. @internal */
export function schemaTables({ namespace, dimension }: PostgresSchemaOptions) {
  const own = pgSchema(schemaName(namespace));
  const groups = own.table('groups', { id: uuid('id').primaryKey() });
  const memories = own.table('memories', {
    id: uuid('id').primaryKey(),
    groupId: uuid('group_id').notNull(),
    memoryId: text('memory_id').notNull(),
    chunk: integer('chunk').notNull(),
    content: text('content').notNull(),
    /** Null for a zero vector. */
    embedding: vector('embedding', { dimensions: dimension }),
    metadata: jsonb('metadata').$type<ColdHit['metadata']>().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
    /** Order of insertion. */
    kept: bigserial('kept', { mode: 'number' }).notNull(),
  });
  return { groups, memories };
}

/**
 * Creates missing schema, tables and index, inside a transaction. A lock lets only one process do so at a time.
 * @returns the version of server, extension and index, and the number of stored rows
 * @throws BenchError `database` if an existing table has vectors of another dimension
 * @internal
 */
export async function prepareSchema(
  database: PostgresDatabase,
  { namespace, dimension, index, fresh }: PostgresSchemaOptions,
): Promise<{ readonly version: string; readonly rows: number }> {
  const schema = schemaName(namespace);
  const statements = [
    `SELECT pg_advisory_xact_lock(hashtext('dki-bench'))`,
    `SET LOCAL statement_timeout = 0`,
    `CREATE EXTENSION IF NOT EXISTS vector`,
    ...(fresh ? [`DROP SCHEMA IF EXISTS ${schema} CASCADE`] : []),
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `CREATE TABLE IF NOT EXISTS ${schema}.groups (id uuid PRIMARY KEY)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.memories (
      id uuid PRIMARY KEY, group_id uuid NOT NULL REFERENCES ${schema}.groups (id) ON DELETE CASCADE,
      memory_id text NOT NULL, chunk integer NOT NULL, content text NOT NULL, embedding vector(${dimension}),
      metadata jsonb NOT NULL, created_at timestamptz NOT NULL, kept bigserial NOT NULL)`,
  ];
  for (const statement of statements) await database.execute(sql.raw(statement));
  const existing = await one<{ dimension: number }>(
    database,
    sql`SELECT atttypmod AS dimension FROM pg_attribute
      WHERE attrelid = ${`${schema}.memories`}::regclass AND attname = 'embedding'`,
  );
  if (existing.dimension !== dimension) throw dimensionMismatch(`schema ${schema}`, existing.dimension, dimension);
  // An index of the other kind is dropped, since the planner might use it instead.
  const [options, other] =
    index.kind === 'ivfflat'
      ? [`lists = ${index.lists}`, 'hnsw']
      : [`m = ${index.m}, ef_construction = ${index.efConstruction}`, 'ivfflat'];
  const indexes = [
    `CREATE INDEX IF NOT EXISTS memories_group ON ${schema}.memories (group_id, memory_id)`,
    `DROP INDEX IF EXISTS ${schema}.memories_embedding_${other}`,
    `CREATE INDEX IF NOT EXISTS memories_embedding_${index.kind} ON ${schema}.memories
      USING ${index.kind} (embedding vector_cosine_ops) WITH (${options})`,
  ];
  for (const statement of indexes) await database.execute(sql.raw(statement));
  const { rows, ...found } = await one<{ server: string; extension: string; rows: number }>(
    database,
    sql.raw(`SELECT current_setting('server_version') AS server, extversion AS extension,
      (SELECT count(*)::int FROM ${schema}.memories) AS rows FROM pg_extension WHERE extname = 'vector'`),
  );
  const described =
    index.kind === 'ivfflat'
      ? `lists=${index.lists} probes=${index.probes}`
      : `m=${index.m} ef_construction=${index.efConstruction} ef_search=${index.efSearch}`;
  return { version: `${found.server}, pgvector ${found.extension}, ${index.kind} ${described}`, rows };
}

/**
 * Rebuilds the lists of an approximate index, which suit many vectors badly if built from few, and gathers statistics. Without
 * statistics the planner reads a whole group instead of the index. A server gathers them at an unknown time, PostgreSQL in this
 * process never, so search results would depend on it.
 * @internal
 */
export async function refreshIndex(database: PostgresDatabase, schema: string, index: PostgresIndex): Promise<void> {
  const isRebuilt = index.kind === 'ivfflat' && index.probes < index.lists;
  const statements = [
    `SET LOCAL statement_timeout = 0`,
    ...(isRebuilt ? [`REINDEX INDEX ${schema}.memories_embedding_ivfflat`] : []),
    `ANALYZE ${schema}.memories`,
  ];
  await database.transaction(async (transaction) => {
    for (const statement of statements) await transaction.execute(sql.raw(statement));
  });
}

async function one<Row>(database: PostgresDatabase, query: SQL): Promise<Row> {
  // Both drivers return rows, which their common type does not declare.
  const { rows }: { readonly rows: readonly unknown[] } = (await database.execute(query)) as never;
  return rows[0] as Row;
}
