import { and, asc, cosineDistance, countDistinct, eq, inArray, isNotNull, notInArray, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { postgresAddress, postgresClientUrl } from '../../config/normalise-server-addresses.ts';
import { type ColdHit, type ColdMemory, type ColdStore, deriveUuid, isZero } from './cold-store.ts';
import { batches } from '../../base/batches.ts';
import type { PostgresDatabase, PostgresIndex, PostgresSchemaOptions } from './postgres-schema.ts';
import { prepareSchema, refreshIndex, schemaName, schemaTables, searchSettings } from './postgres-schema.ts';
import { STORE_TIMEOUT_MS, storeError, withTimeout } from './store-error.ts';

/** Rows in one statement, which may have at most 65,535 parameters. */
const BATCH = 500;
/** Minimum number of rows for rebuilding lists and gathering statistics. */
const MIN_INDEXED_ROWS = 1_000;

/** An open PostgreSQL: a pool of connections to a server, or a database in this process. */
export interface PostgresConnection {
  /** Without user and password. */
  readonly address: string;
  /** Its connections have the `searchSettings`. @internal */
  readonly database: PostgresDatabase;
  /** Ends all connections of the pool. */
  close(): Promise<void>;
}

/**
 * Creates a pool of connections to a server, which are opened on demand.
 * @param address `postgres://…` or `postgresql://…`
 * @throws BenchError `bad-option` for an invalid address
 */
export function connectPostgres(address: string, index: PostgresIndex, timeoutMs: number): PostgresConnection {
  const shown = postgresAddress(address);
  const pool = new pg.Pool({
    connectionString: postgresClientUrl(address),
    application_name: 'dki-bench',
    max: 2,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    // The pool awaits the promise, against its types.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    onConnect: async (client) => {
      // If the connection breaks during a call, the call itself fails.
      client.on('error', () => undefined);
      await client.query(searchSettings(index));
    },
  });
  // If an idle connection breaks, the next call opens another.
  pool.on('error', () => undefined);
  return { address: shown, database: drizzle(pool), close: () => pool.end() };
}

/** Options of the store. */
export interface PostgresColdStoreOptions extends PostgresSchemaOptions {
  readonly timeoutMs?: number;
}

/** Long-term memory in PostgreSQL with pgvector, searched in the server. */
export class PostgresColdStore implements ColdStore {
  readonly name = 'postgres';
  readonly version: string;
  readonly #connection: PostgresConnection;
  readonly #options: PostgresColdStoreOptions;
  readonly #timeoutMs: number;
  readonly #tables: ReturnType<typeof schemaTables>;
  #rows: number;
  #indexedRows: number;

  private constructor(
    connection: PostgresConnection,
    options: PostgresColdStoreOptions,
    { version, rows }: Awaited<ReturnType<typeof prepareSchema>>,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? STORE_TIMEOUT_MS;
    this.#tables = schemaTables(options);
    this.version = version;
    this.#rows = rows;
    this.#indexedRows = rows;
  }

  /**
   * Opens the store and creates missing schema, tables and index. The store then owns the connection.
   * @throws BenchError `database` if no server answers, it has no pgvector, or an existing table has vectors of another
   * dimension
   */
  static async open(connection: PostgresConnection, options: PostgresColdStoreOptions): Promise<PostgresColdStore> {
    try {
      const prepared = await connection.database.transaction((database) => prepareSchema(database, options));
      return new PostgresColdStore(connection, options, prepared);
    } catch (error) {
      await connection.close();
      throw storeError(connection.address, 'opening long-term memory', error);
    }
  }

  replace(group: string, memories: readonly ColdMemory[]): Promise<void> {
    const { groups, memories: table } = this.#tables;
    const rows = memories.flatMap(({ memoryId, metadata, createdAtMs, chunks }) =>
      chunks.map(({ content, embedding }, chunk) => ({
        id: deriveUuid(`${group}/${chunk}/${memoryId}`),
        groupId: group,
        memoryId,
        chunk,
        content,
        embedding: isZero(embedding) ? null : Array.from(embedding),
        metadata,
        createdAt: new Date(createdAtMs),
      })),
    );
    return this.#guard('writing', async (database) => {
      await database.transaction(async (transaction) => {
        await transaction.insert(groups).values({ id: group }).onConflictDoNothing();
        for (const batch of batches(memories, BATCH)) {
          const ids = batch.map(({ memoryId }) => memoryId);
          await transaction.delete(table).where(and(eq(table.groupId, group), inArray(table.memoryId, ids)));
        }
        for (const batch of batches(rows, BATCH)) await transaction.insert(table).values(batch);
      });
      this.#rows += rows.length;
      // Refresh only when the number of rows has doubled.
      if (this.#rows < Math.max(MIN_INDEXED_ROWS, 2 * this.#indexedRows)) return;
      await refreshIndex(database, schemaName(this.#options.namespace), this.#options.index);
      this.#indexedRows = this.#rows;
    });
  }

  search(group: string, query: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]> {
    const { memories: table } = this.#tables;
    if (count === 0 || isZero(query)) return Promise.resolve([]);
    const { memoryId, chunk, content, metadata, createdAt } = table;
    const distance = cosineDistance(table.embedding, Array.from(query));
    const score = sql<number>`1 - (${distance})`.mapWith(Number);
    const others = without.length === 0 ? undefined : notInArray(memoryId, [...without]);
    return this.#guard('searching', async (database) => {
      const rows = await database
        .select({ memoryId, chunk, content, metadata, createdAt, score })
        .from(table)
        .where(and(eq(table.groupId, group), isNotNull(table.embedding), others))
        .orderBy(distance, asc(table.kept))
        .limit(count);
      return rows.map(({ createdAt: time, ...hit }) => ({ ...hit, createdAtMs: time.getTime() }));
    });
  }

  remove(group: string, memoryId: string): Promise<boolean> {
    const { memories: table } = this.#tables;
    const isIt = and(eq(table.groupId, group), eq(table.memoryId, memoryId));
    return this.#guard('removing', async (database) => {
      const removed = await database.delete(table).where(isIt).returning({ id: table.id });
      return removed.length > 0;
    });
  }

  count(group: string): Promise<number> {
    const { memories: table } = this.#tables;
    const memories = countDistinct(table.memoryId);
    return this.#guard('counting', async (database) => {
      const [row] = await database.select({ memories }).from(table).where(eq(table.groupId, group));
      return row!.memories;
    });
  }

  drop(): Promise<void> {
    const statement = `DROP SCHEMA IF EXISTS ${schemaName(this.#options.namespace)} CASCADE`;
    return this.#guard('removing everything', async (database) => {
      await database.execute(sql.raw(statement));
    });
  }

  /** Ends the connections; gives up after the time limit if the server hangs. */
  async close(): Promise<void> {
    await withTimeout(this.#timeoutMs, this.#connection.close()).catch(() => undefined);
  }

  async #guard<Result>(action: string, work: (database: PostgresDatabase) => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(2 * this.#timeoutMs, work(this.#connection.database));
    } catch (error) {
      throw storeError(this.#connection.address, action, error);
    }
  }
}
