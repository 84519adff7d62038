import { and, asc, cosineDistance, countDistinct, eq, inArray, isNotNull, notInArray, sql } from 'drizzle-orm';
import { isZero, type ColdHit, type ColdMemory, type ColdStore } from './cold-store.ts';
import { uuidOf } from './memory-record.ts';
import type { PostgresConnection, PostgresDatabase } from './postgres-connection.ts';
import { isApproximate, rebuildStatement, statisticsStatement, type PostgresIndex } from './postgres-index.ts';
import { prepareSchema, schemaOf, tablesOf, type FoundSchema, type PostgresSchemaOptions } from './postgres-schema.ts';
import { STORE_TIMEOUT_MS, storeError, within } from './store-error.ts';

/** Rows in one statement, which may have 65,535 parameters. */
const BATCH = 500;
/** Least number of rows for rebuilding lists and gathering statistics. */
const LEAST_INDEXED_ROWS = 1_000;

/** Options of the store. */
export interface PostgresColdStoreOptions extends PostgresSchemaOptions {
  readonly timeoutMs?: number;
}

/** Long-term memory in PostgreSQL with pgvector, searched in the server. */
export class PostgresColdStore implements ColdStore {
  readonly name = 'postgres';
  readonly version: string;
  readonly #connection: PostgresConnection;
  readonly #schema: string;
  readonly #index: PostgresIndex;
  readonly #timeoutMs: number;
  readonly #tables: ReturnType<typeof tablesOf>;
  #rows: number;
  #indexedRows: number;

  private constructor(connection: PostgresConnection, options: PostgresColdStoreOptions, found: FoundSchema) {
    this.#connection = connection;
    this.#schema = schemaOf(options.namespace);
    this.#index = options.index;
    this.#timeoutMs = options.timeoutMs ?? STORE_TIMEOUT_MS;
    this.#tables = tablesOf(options);
    this.version = found.version;
    this.#rows = found.rows;
    this.#indexedRows = found.rows;
  }

  /**
   * Opens the store and creates missing schema, tables and index. The store then owns the connection.
   * @throws BenchError `database` if no server answers, it has no pgvector, or an existing table has vectors of another
   * dimension
   */
  static async open(connection: PostgresConnection, options: PostgresColdStoreOptions): Promise<PostgresColdStore> {
    try {
      const found = await connection.database.transaction((transaction) => prepareSchema(transaction, options));
      return new PostgresColdStore(connection, options, found);
    } catch (error) {
      await connection.close();
      throw storeError(connection.address, 'opening long-term memory', error);
    }
  }

  replace(group: string, memories: readonly ColdMemory[]): Promise<void> {
    const { groups, memories: table } = this.#tables;
    const rows = memories.flatMap(({ memoryId, metadata, createdAtMs, chunks }) =>
      chunks.map(({ content, embedding }, chunk) => ({
        id: uuidOf(`${group}/${chunk}/${memoryId}`),
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
        for (const batch of batches(memories)) {
          const ids = batch.map(({ memoryId }) => memoryId);
          await transaction.delete(table).where(and(eq(table.groupId, group), inArray(table.memoryId, ids)));
        }
        for (const batch of batches(rows)) await transaction.insert(table).values([...batch]);
      });
      this.#rows += rows.length;
      await this.#refresh(database);
    });
  }

  search(group: string, query: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]> {
    const { memories: table } = this.#tables;
    if (count === 0 || isZero(query)) return Promise.resolve([]);
    const distance = cosineDistance(table.embedding, Array.from(query));
    return this.#guard('searching', async (database) => {
      const rows = await database
        .select({
          memoryId: table.memoryId,
          chunk: table.chunk,
          content: table.content,
          metadata: table.metadata,
          createdAt: table.createdAt,
          score: sql<number>`1 - (${distance})`.mapWith(Number),
        })
        .from(table)
        .where(
          and(
            eq(table.groupId, group),
            isNotNull(table.embedding),
            without.length === 0 ? undefined : notInArray(table.memoryId, [...without]),
          ),
        )
        .orderBy(distance, asc(table.kept))
        .limit(count);
      return rows.map(({ createdAt, ...hit }) => ({ ...hit, createdAtMs: createdAt.getTime() }));
    });
  }

  remove(group: string, memoryId: string): Promise<boolean> {
    const { memories: table } = this.#tables;
    return this.#guard('removing', async (database) => {
      const removed = await database
        .delete(table)
        .where(and(eq(table.groupId, group), eq(table.memoryId, memoryId)))
        .returning({ id: table.id });
      return removed.length > 0;
    });
  }

  count(group: string): Promise<number> {
    const { memories: table } = this.#tables;
    return this.#guard('counting', async (database) => {
      const [row] = await database
        .select({ memories: countDistinct(table.memoryId) })
        .from(table)
        .where(eq(table.groupId, group));
      return row!.memories;
    });
  }

  drop(): Promise<void> {
    return this.#guard('removing everything', async (database) => {
      await database.execute(sql`DROP SCHEMA IF EXISTS ${sql.identifier(this.#schema)} CASCADE`);
    });
  }

  /** Ends its connections, and waits no longer than its time-out for a server that hangs. */
  async close(): Promise<void> {
    // The pool would wait forever for a server that hangs.
    await within(this.#timeoutMs, this.#connection.close()).catch(() => undefined);
  }

  /**
   * Rebuilds lists and gathers statistics each time that the number of rows has doubled. Lists built from few vectors fit
   * many badly. Without statistics the planner reads a whole group instead of searching its index: a server gathers them at
   * some time, PostgreSQL in the process never, and the results of a search would depend on that.
   */
  async #refresh(database: PostgresDatabase): Promise<void> {
    if (this.#rows < Math.max(LEAST_INDEXED_ROWS, 2 * this.#indexedRows)) return;
    await database.transaction(async (transaction) => {
      await transaction.execute(sql`SET LOCAL statement_timeout = 0`);
      if (this.#index.kind === 'ivfflat' && isApproximate(this.#index)) {
        await transaction.execute(rebuildStatement(this.#schema));
      }
      await transaction.execute(statisticsStatement(this.#schema));
    });
    this.#indexedRows = this.#rows;
  }

  async #guard<Result>(doing: string, work: (database: PostgresDatabase) => Promise<Result>): Promise<Result> {
    try {
      return await within(2 * this.#timeoutMs, work(this.#connection.database));
    } catch (error) {
      throw storeError(this.#connection.address, doing, error);
    }
  }
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
}
