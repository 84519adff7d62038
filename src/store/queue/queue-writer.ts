import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { BenchError } from '../../base/bench-error.ts';
import type { QueuedPlan, QueueWorker } from '../records/run-record.ts';
import { type JobQueue, openJobQueue, type QueuedUnit, type TakenJob } from './job-queue.ts';
import type { QueueConnection, QueueTransaction } from './queue-connection.ts';
import { createQueueSchema, SCHEMA } from './queue-schema.ts';

/** A worker that gives no sign of life for so long loses its claims. */
export const LEASE_S = 30;

/** A worker's exclusive hold on a unit, until the unit is stored, given back or lost. */
export interface Claim extends TakenJob {
  readonly run: string;
  readonly worker: string;
}

export interface PackedBundle {
  readonly content: Buffer;
  readonly turns: number;
}

interface StoredPlan {
  readonly id: string;
  readonly planId: string;
}

/** Writes to a queue. Only the holder of a claim can store its result, in the transaction that ends the job. */
export class QueueWriter implements AsyncDisposable {
  readonly #connection: QueueConnection;
  readonly #jobs: JobQueue;

  private constructor(connection: QueueConnection, jobs: JobQueue) {
    this.#connection = connection;
    this.#jobs = jobs;
  }

  /** @param options.creates creates missing tables @throws BenchError `database` */
  static async open(connection: QueueConnection, options: { readonly creates: boolean }): Promise<QueueWriter> {
    if (options.creates) await createQueueSchema(connection);
    return new QueueWriter(connection, await openJobQueue(connection, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#jobs[Symbol.asyncDispose]();
  }

  /**
   * Stores a plan with its units; for a plan that is stored already, requeues the units that failed too often.
   * @returns the number of units that were put into the queue
   * @throws BenchError `bad-option` if a run of that name has another plan
   */
  async plan(planId: string, plan: QueuedPlan, units: readonly QueuedUnit[]): Promise<number> {
    const { name } = plan;
    const stored = `SELECT id, plan_id AS "planId" FROM ${SCHEMA}.runs WHERE name = $1`;
    const requireSamePlan = (known: StoredPlan): void => {
      if (known.planId === planId) return;
      const message = `${this.#connection.address} has a run "${name}" of another plan`;
      throw new BenchError('bad-option', message, 'choose another name with --run');
    };
    const [known] = await this.#connection.rows<StoredPlan>(stored, [name]);
    if (known !== undefined) requireSamePlan(known);
    const id = known?.id ?? randomUUID();
    await this.#jobs.create(id);
    return await this.#connection.transaction(async (transaction) => {
      const made = await transaction.query(
        `INSERT INTO ${SCHEMA}.runs (id, name, plan_id, plan, units) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING id`,
        [id, name, planId, JSON.stringify(plan), units.length],
      );
      if (made.length === 0) {
        // Another process may have planned a run of that name since.
        const [other] = await transaction.query<StoredPlan>(stored, [name]);
        requireSamePlan(other!);
        return await this.#jobs.putAgain(other!.id, transaction);
      }
      await this.#jobs.put(id, units, transaction);
      return units.length;
    });
  }

  /** Registers a worker that has passed its self-tests, and returns its id. */
  async enter(run: string, record: QueueWorker): Promise<string> {
    const id = randomUUID();
    const insert = `INSERT INTO ${SCHEMA}.workers (id, run_id, host, pid, record) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT DO NOTHING`;
    const values = [id, run, hostname(), process.pid, JSON.stringify(record)];
    await this.#connection.retryTransaction(({ query }) => query(insert, values));
    return id;
  }

  /** Records that a worker is alive, and returns the positions of the units that it still holds. */
  async beat(worker: string): Promise<readonly number[]> {
    return await this.#connection.transaction(async ({ query }) => {
      await query(IS_ALIVE, [worker]);
      const held = `SELECT position FROM ${SCHEMA}.claims WHERE worker = $1`;
      return (await query<{ position: number }>(held, [worker])).map(({ position }) => position);
    });
  }

  async leave(worker: string, how: string): Promise<void> {
    const update = `UPDATE ${SCHEMA}.workers SET ended = $2, seen_at = now() WHERE id = $1`;
    await this.#connection.rows(update, [worker, how]);
  }

  /** Claims the next available unit. @param options.reaps first takes back the units of silent workers */
  async claim(
    run: string,
    worker: string,
    { reaps, signal }: { readonly reaps: boolean; readonly signal: AbortSignal },
  ): Promise<Claim | undefined> {
    return await this.#connection.retryTransaction(async (transaction) => {
      const { query } = transaction;
      await query(IS_ALIVE, [worker]);
      // A worker that claims has no unit. If one is recorded, the answer to an earlier claim was lost.
      const lost = await query<LostClaim>(loseClaims('w.id = $2'), [run, worker]);
      for (const claim of lost) await this.#fail({ run, ...claim }, 'the answer of the queue was lost', transaction);
      const silent = reaps ? await query<LostClaim>(loseClaims(`w.seen_at < ${SILENT_SINCE}`), [run, LEASE_S]) : [];
      const reason = `its worker was silent for ${LEASE_S} s`;
      for (const claim of silent) await this.#fail({ run, ...claim }, reason, transaction);
      const taken = await this.#jobs.take(run, transaction);
      if (taken === undefined) return undefined;
      const claimed = await query(
        `INSERT INTO ${SCHEMA}.claims (run_id, position, worker, job) SELECT $1, $2, $3, $4
        WHERE NOT EXISTS (SELECT FROM ${SCHEMA}.bundles WHERE run_id = $1 AND position = $2)
        ON CONFLICT DO NOTHING RETURNING position`,
        [run, taken.position, worker, taken.job],
      );
      if (claimed.length > 0) return { ...taken, run, worker };
      // A duplicate job: the unit is stored already, or a worker has it.
      await this.#jobs.complete(run, taken.job, transaction);
      return undefined;
    }, signal);
  }

  /** Stores the results of a unit and ends its job; refuses them as `stale` if another worker has the unit now. */
  async store(
    { run, worker, position, job, attempt }: Claim,
    planId: string,
    { content, turns }: PackedBundle,
    signal: AbortSignal,
  ): Promise<'stored' | 'stale'> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    return await this.#connection.retryTransaction(async (transaction) => {
      const { query } = transaction;
      const [held] = await query<{ planId: string; since: Date }>(
        `SELECT r.plan_id AS "planId", c.claimed_at AS since
        FROM ${SCHEMA}.claims c JOIN ${SCHEMA}.runs r ON r.id = c.run_id
        WHERE c.run_id = $1 AND c.position = $2 AND c.worker = $3 AND c.job = $4 FOR UPDATE OF c`,
        [run, position, worker, job],
      );
      if (held === undefined) {
        // An earlier attempt may have stored them, with its answer lost.
        const ownBundle = `SELECT FROM ${SCHEMA}.bundles WHERE run_id = $1 AND position = $2 AND worker = $3`;
        return (await query(ownBundle, [run, position, worker])).length > 0 ? 'stored' : 'stale';
      }
      if (held.planId !== planId) {
        throw new BenchError('bad-option', 'results of another plan are refused', 'start the worker again');
      }
      await query(
        `INSERT INTO ${SCHEMA}.bundles (run_id, position, worker, attempt, turns, sha256, content, claimed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
        [run, position, worker, attempt, turns, sha256, content, held.since],
      );
      await query(`DELETE FROM ${SCHEMA}.claims WHERE run_id = $1 AND position = $2`, [run, position]);
      await this.#jobs.complete(run, job, transaction);
      return 'stored';
    }, signal);
  }

  /** Ends a claim after a failed attempt: the unit is retried later, or given up. */
  async fail(claim: Claim, reason: string): Promise<void> {
    await this.#release(claim, (transaction) => this.#fail(claim, reason, transaction));
  }

  /** Ends a claim without counting an attempt. */
  async giveBack(claim: Claim): Promise<void> {
    await this.#release(claim, (transaction) => this.#jobs.giveBack(claim.run, claim, transaction));
  }

  countOpen(run: string, signal?: AbortSignal): Promise<number> {
    return this.#connection.retry(() => this.#jobs.countOpen(run), signal);
  }

  async #release(claim: Claim, end: (transaction: QueueTransaction) => Promise<void>): Promise<void> {
    await this.#connection.transaction(async (transaction) => {
      const { run, position, worker, job } = claim;
      const own = await transaction.query(
        `DELETE FROM ${SCHEMA}.claims WHERE run_id = $1 AND position = $2 AND worker = $3 AND job = $4 RETURNING job`,
        [run, position, worker, job],
      );
      if (own.length > 0) await end(transaction);
    });
  }

  async #fail(claim: LostClaim & { readonly run: string }, reason: string, transaction: QueueTransaction) {
    const { run, position, worker, job } = claim;
    const insert = `INSERT INTO ${SCHEMA}.failures (run_id, position, worker, reason) VALUES ($1, $2, $3, $4)`;
    await transaction.query(insert, [run, position, worker, reason]);
    await this.#jobs.fail(run, job, reason, transaction);
  }
}

type LostClaim = Pick<Claim, 'position' | 'job' | 'worker'>;

/** Deletes the claims of run `$1` held by workers `w` that meet a condition on `$2`. */
const loseClaims = (where: string): string => `DELETE FROM ${SCHEMA}.claims WHERE (run_id, position) IN (
    SELECT c.run_id, c.position FROM ${SCHEMA}.claims c JOIN ${SCHEMA}.workers w ON w.id = c.worker
    WHERE c.run_id = $1 AND ${where} FOR UPDATE OF c SKIP LOCKED)
  RETURNING position, job, worker`;

const SILENT_SINCE = `now() - $2 * interval '1 s'`;
const IS_ALIVE = `UPDATE ${SCHEMA}.workers SET seen_at = now() WHERE id = $1`;
