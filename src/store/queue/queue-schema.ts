import type { QueueConnection } from './queue-connection.ts';

/** PostgreSQL schema of the tables. */
export const SCHEMA = 'dki_bench_queue';

/** All times come from the server's clock, since clocks of workers may be wrong. */
const STATEMENTS = [
  // A lock, since several processes may plan at the same time.
  `SELECT pg_advisory_xact_lock(hashtext('${SCHEMA}'))`,
  `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.runs (
    id uuid PRIMARY KEY, name text NOT NULL UNIQUE, plan_id text NOT NULL, plan text NOT NULL,
    units integer NOT NULL, planned_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.workers (
    id uuid PRIMARY KEY, run_id uuid NOT NULL REFERENCES ${SCHEMA}.runs ON DELETE CASCADE,
    host text NOT NULL, pid integer NOT NULL, record text NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now(), seen_at timestamptz NOT NULL DEFAULT now(), ended text)`,
  // The last job of pg-boss that a worker has claimed; tables of 0.2.0 lack it.
  `ALTER TABLE ${SCHEMA}.workers ADD COLUMN IF NOT EXISTS job uuid`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.bundles (
    run_id uuid NOT NULL REFERENCES ${SCHEMA}.runs ON DELETE CASCADE, position integer NOT NULL,
    worker uuid NOT NULL REFERENCES ${SCHEMA}.workers, attempt integer NOT NULL, turns integer NOT NULL,
    sha256 text NOT NULL, content bytea NOT NULL,
    claimed_at timestamptz NOT NULL, stored_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (run_id, position))`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.failures (
    run_id uuid NOT NULL REFERENCES ${SCHEMA}.runs ON DELETE CASCADE, position integer NOT NULL,
    worker uuid NOT NULL, reason text NOT NULL, failed_at timestamptz NOT NULL DEFAULT now())`,
];

export async function createQueueSchema(connection: QueueConnection): Promise<void> {
  await connection.transaction(async ({ query }) => {
    for (const statement of STATEMENTS) await query(statement);
  });
}
