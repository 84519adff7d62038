import { createHash } from 'node:crypto';
import { BenchError, didYouMean } from '../../base/bench-error.ts';
import { type QueuedPlan, queuedPlan, type QueueWorker, queueWorker } from '../records/run-record.ts';
import { requireSchemaVersion } from '../records/schema-version.ts';
import { checkStoredRecord } from '../check-stored-record.ts';
import { LEASE_S } from './job-queue.ts';
import type { QueueConnection } from './queue-connection.ts';
import { SCHEMA } from './queue-schema.ts';

export interface PlannedRun {
  readonly id: string;
  readonly planId: string;
  readonly plan: QueuedPlan;
}

type PlannedRow = Record<'id' | 'name' | 'planId' | 'plan', string>;

export type QueuedRun = Awaited<ReturnType<QueueReader['progress']>>;

export interface RegisteredWorker extends QueueWorker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly beganAt: Date;
  /** `working`, `silent` if it has given no sign of life for `LEASE_S`, or how it ended. */
  readonly state: string;
  readonly users: number;
  readonly turns: number;
}

export class QueueReader {
  readonly #connection: QueueConnection;

  constructor(connection: QueueConnection) {
    this.#connection = connection;
  }

  /** The run of that name, or the only run. @throws BenchError `not-found`; `database` for records of another version */
  async find(name?: string): Promise<PlannedRun> {
    const names = await this.names();
    const { address } = this.#connection;
    const wanted = name ?? (names.length === 1 ? names[0] : undefined);
    if (wanted === undefined || !names.includes(wanted)) {
      const message =
        name !== undefined
          ? `${address} holds no run "${name}"${didYouMean(name, names)}`
          : `${address} holds ${names.length === 0 ? 'no run' : `${names.length} runs`}`;
      const hint =
        names.length === 0 ? 'plan one: dki-bench queue plan --queue' : `name one with --run: ${names.join(', ')}`;
      throw new BenchError('not-found', message, hint);
    }
    const planned = `SELECT id, name, plan_id AS "planId", plan FROM ${SCHEMA}.runs WHERE name = $1`;
    const row = (await this.#connection.rows<PlannedRow>(planned, [wanted]))[0]!;
    const what = `the plan of run "${row.name}" in ${address}`;
    const stored = JSON.parse(row.plan) as { readonly schemaVersion: number };
    requireSchemaVersion(stored.schemaVersion, what);
    return { id: row.id, planId: row.planId, plan: checkStoredRecord(queuedPlan, stored, what) };
  }

  async names(): Promise<string[]> {
    const table = `SELECT to_regclass('${SCHEMA}.runs') AS name`;
    const [found] = await this.#connection.rows<{ name: string | null }>(table);
    if (found!.name === null) return [];
    const runs = await this.#connection.rows<{ name: string }>(`SELECT name FROM ${SCHEMA}.runs ORDER BY planned_at`);
    return runs.map(({ name }) => name);
  }

  /** @param counts of the jobs: `open` wait or are being worked on */
  async progress({ id, plan }: PlannedRun, { open, underWay }: Readonly<Record<'open' | 'underWay', number>>) {
    const [row] = await this.#connection.rows<
      Record<'units' | 'stored' | 'probed' | 'turns' | 'bytes', number> & { at: Date }
    >(
      `SELECT r.units, r.planned_at AS at,
        count(b.position)::int AS stored, count(b.position) FILTER (WHERE b.position < 0)::int AS probed,
        coalesce(sum(b.turns), 0)::int AS turns,
        coalesce(sum(length(b.content)), 0)::float8 AS bytes
      FROM ${SCHEMA}.runs r LEFT JOIN ${SCHEMA}.bundles b ON b.run_id = r.id WHERE r.id = $1 GROUP BY r.id`,
      [id],
    );
    const { units, stored, probed, at, ...counts } = row!;
    const users = plan.plan.users.length;
    return {
      ...counts,
      underWay,
      name: plan.name,
      plannedAt: at,
      users,
      stored: stored - probed,
      ofTurns: plan.plan.users.reduce((sum, { turns }) => sum + turns, 0),
      /** Units that were given up after too many failures. */
      failed: Math.max(0, units - stored - open),
      /** The isolation probe is stored, or the run needs none. */
      isProbed: units === users || probed > 0,
    };
  }

  async workers({ id }: PlannedRun): Promise<RegisteredWorker[]> {
    const rows = await this.#connection.rows<Omit<RegisteredWorker, keyof QueueWorker> & { readonly record: string }>(
      `SELECT w.id, w.host, w.pid, w.record, w.began_at AS "beganAt",
        coalesce(w.ended, CASE WHEN w.seen_at < now() - $2 * interval '1 s' THEN 'silent' ELSE 'working' END) AS state,
        count(b.position) FILTER (WHERE b.position >= 0)::int AS users, coalesce(sum(b.turns), 0)::int AS turns
      FROM ${SCHEMA}.workers w LEFT JOIN ${SCHEMA}.bundles b ON b.worker = w.id
      WHERE w.run_id = $1 GROUP BY w.id ORDER BY w.began_at, w.id`,
      [id, LEASE_S],
    );
    return rows.map(({ record, ...worker }) => ({
      ...worker,
      ...checkStoredRecord(queueWorker, JSON.parse(record), `the record of worker ${worker.id}`),
    }));
  }

  /** The last failed attempts, newest first. */
  async failures({ id, plan }: PlannedRun, most: number) {
    const rows = await this.#connection.rows<{ position: number; reason: string; at: Date; host: string }>(
      `SELECT f.position, f.reason, f.failed_at AS at, coalesce(w.host, '') AS host
      FROM ${SCHEMA}.failures f LEFT JOIN ${SCHEMA}.workers w ON w.id = f.worker
      WHERE f.run_id = $1 ORDER BY f.failed_at DESC LIMIT $2`,
      [id, most],
    );
    return rows.map(({ position, ...failure }) => {
      const userId = plan.plan.users[position]?.userId ?? null;
      return { ...failure, userId };
    });
  }

  /** The stored results, in the order of the plan, those of the isolation probe last. @throws BenchError `database` if damaged */
  async *bundles({ id, plan }: PlannedRun) {
    const positions = await this.#connection.rows<{ position: number }>(
      `SELECT position FROM ${SCHEMA}.bundles WHERE run_id = $1 ORDER BY position < 0, position`,
      [id],
    );
    for (const { position } of positions) {
      const [bundle] = await this.#connection.rows<{ worker: string; storedAt: Date; content: Buffer; sha256: string }>(
        `SELECT worker, stored_at AS "storedAt", sha256, content
        FROM ${SCHEMA}.bundles WHERE run_id = $1 AND position = $2`,
        [id, position],
      );
      if (createHash('sha256').update(bundle!.content).digest('hex') !== bundle!.sha256) {
        const user = plan.plan.users[position];
        const source = user === undefined ? 'the isolation probe' : `user ${user.userId}`;
        const message = `${this.#connection.address}: the results of ${source} are damaged`;
        throw new BenchError('database', message, 'restore a copy of the database');
      }
      yield { position, ...bundle! };
    }
  }
}
