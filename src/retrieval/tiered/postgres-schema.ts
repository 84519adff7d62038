import { sql } from 'drizzle-orm';
import { bigserial, integer, jsonb, pgSchema, text, timestamp, uuid, vector } from 'drizzle-orm/pg-core';
import type { ColdHit } from './cold-store.ts';
import { uuidOf } from './memory-record.ts';
import type { PostgresDatabase } from './postgres-connection.ts';
import { indexDescription, indexStatements, type PostgresIndex } from './postgres-index.ts';
import { otherDimension } from './store-error.ts';

/** Options of the schema. */
export interface PostgresSchemaOptions {
  /** Separates the data of one client from all others on the server. */
  readonly namespace: string;
  /** Numbers in a vector. */
  readonly dimension: number;
  readonly index: PostgresIndex;
  /** Empties the namespace first. */
  readonly fresh: boolean;
}

/** Tables of groups and memories; a row's id derives from group, memory and chunk, so that nothing is written twice. */
export function tablesOf({ namespace, dimension }: PostgresSchemaOptions) {
  const own = pgSchema(schemaOf(namespace));
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

/** State of a prepared schema. */
export interface FoundSchema {
  /** Of server, extension and index. */
  readonly version: string;
  readonly rows: number;
}

/**
 * Creates missing schema, tables and index, inside a transaction. A lock serialises processes that do so at once.
 * @throws BenchError `database` if an existing table has vectors of another dimension
 */
export async function prepareSchema(database: PostgresDatabase, options: PostgresSchemaOptions): Promise<FoundSchema> {
  const schema = schemaOf(options.namespace);
  const name = sql.identifier(schema);
  await database.execute(sql`SELECT pg_advisory_xact_lock(hashtext('dki-bench'))`);
  await database.execute(sql`SET LOCAL statement_timeout = 0`);
  await database.execute(sql`CREATE EXTENSION IF NOT EXISTS vector`);
  if (options.fresh) await database.execute(sql`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  await database.execute(sql`CREATE SCHEMA IF NOT EXISTS ${name}`);
  await database.execute(sql`CREATE TABLE IF NOT EXISTS ${name}.groups (id uuid PRIMARY KEY)`);
  await database.execute(sql`CREATE TABLE IF NOT EXISTS ${name}.memories (
    id uuid PRIMARY KEY, group_id uuid NOT NULL REFERENCES ${name}.groups (id) ON DELETE CASCADE,
    memory_id text NOT NULL, chunk integer NOT NULL, content text NOT NULL,
    embedding vector(${sql.raw(String(options.dimension))}), metadata jsonb NOT NULL, created_at timestamptz NOT NULL,
    kept bigserial NOT NULL)`);
  const dimension = await one<{ dimension: number }>(
    database,
    sql`SELECT atttypmod AS dimension FROM pg_attribute
      WHERE attrelid = ${`${schema}.memories`}::regclass AND attname = 'embedding'`,
  );
  if (dimension.dimension !== options.dimension) {
    throw otherDimension(`schema ${schema}`, dimension.dimension, options.dimension);
  }
  await database.execute(sql`CREATE INDEX IF NOT EXISTS memories_group ON ${name}.memories (group_id, memory_id)`);
  for (const statement of indexStatements(schema, options.index)) await database.execute(statement);
  const { server, extension } = await one<{ server: string; extension: string }>(
    database,
    sql`SELECT current_setting('server_version') AS server, extversion AS extension
      FROM pg_extension WHERE extname = 'vector'`,
  );
  const { rows } = await one<{ rows: number }>(database, sql`SELECT count(*)::int AS rows FROM ${name}.memories`);
  return { version: `${server}, pgvector ${extension}, ${indexDescription(options.index)}`, rows };
}

async function one<Row>(database: PostgresDatabase, query: ReturnType<typeof sql>): Promise<Row> {
  // Both drivers return rows, which their common type does not declare.
  const { rows }: { readonly rows: readonly unknown[] } = (await database.execute(query)) as never;
  return rows[0] as Row;
}

/** Names the schema of a namespace, so that it needs no quotes. */
export function schemaOf(namespace: string): string {
  return `dki_bench_${uuidOf(namespace).replaceAll('-', '').slice(0, 16)}`;
}
