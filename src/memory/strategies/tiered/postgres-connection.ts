import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { searchSettings, type PostgresIndex } from './postgres-index.ts';
import { postgresAddress } from './tier-places.ts';

export type PostgresDatabase = PgDatabase<PgQueryResultHKT>;

/** An open PostgreSQL: a pool of connections to a server, or one in the process. */
export interface PostgresConnection {
  /** As it may be shown. */
  readonly address: string;
  /** Its connections have been told `searchSettings`. */
  readonly database: PostgresDatabase;
  close(): Promise<void>;
}

/**
 * Connections to a server, made as they are needed.
 *
 * @param address `postgres://…` or `postgresql://…`
 * @throws BenchError `bad-option` for an address that is none
 */
export function connectPostgres(address: string, index: PostgresIndex, timeoutMs: number): PostgresConnection {
  const shown = postgresAddress(address);
  const pool = new pg.Pool({
    connectionString: address,
    application_name: 'dki-bench',
    max: 2,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    // The pool waits for the promise; its types do not say so.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    onConnect: async (client) => {
      // A connection that breaks in use: the call that it serves fails of itself.
      client.on('error', () => undefined);
      await client.query(searchSettings(index));
    },
  });
  // One that breaks unused: the next call makes another.
  pool.on('error', () => undefined);
  return {
    address: shown,
    database: drizzle(pool),
    close: () => pool.end(),
  };
}
