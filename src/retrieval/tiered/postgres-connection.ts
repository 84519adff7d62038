import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { searchSettings, type PostgresIndex } from './postgres-index.ts';
import { postgresAddress } from '../../config/server-address.ts';

/** Drizzle's interface to either kind of PostgreSQL. */
export type PostgresDatabase = PgDatabase<PgQueryResultHKT>;

/** An open PostgreSQL: a connection pool to a server, or one in the process. */
export interface PostgresConnection {
  /** Without user and password. */
  readonly address: string;
  /** Its connections have the `searchSettings`. */
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
    connectionString: address,
    application_name: 'dki-bench',
    max: 2,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    // The pool awaits the promise, against its types.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    onConnect: async (client) => {
      // A connection that breaks in use: its call fails by itself.
      client.on('error', () => undefined);
      await client.query(searchSettings(index));
    },
  });
  // A connection that breaks when idle: the next call opens another.
  pool.on('error', () => undefined);
  return {
    address: shown,
    database: drizzle(pool),
    close: () => pool.end(),
  };
}
