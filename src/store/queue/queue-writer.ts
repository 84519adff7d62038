import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { BenchError } from '../../base/bench-error.ts';
import type { QueuedPlan, QueueWorker } from '../records/run-record.ts';
import { type Claim, type JobQueue, LEASE_S, openJobQueue, type QueuedUnit } from './job-queue.ts';
import type { QueueConnection, QueueTransaction } from './queue-connection.ts';
import { createQueueSchema, SCHEMA } from './queue-schema.ts';

export interface PackedBundle {
  readonly content: Buffer;
  readonly turns: number;
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
    const [known] = await this.#connection.rows<{ id: string }>(stored, [name]);
    const id = known?.id ?? randomUUID();
    await this.#jobs.create(id);
    return await this.#connection.transaction(async (transaction) => {
      const made = await transaction.query(
        `INSERT INTO ${SCHEMA}.runs (id, name, plan_id, plan, units) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING id`,
        [id, name, planId, JSON.stringify(plan), units.length],
      );
      if (made.length > 0) {
        await this.#jobs.put(id, units, transaction);
        return units.length;
      }
      // Planned before, maybe by another process since the first look.
      const [other] = await transaction.query<{ id: string; planId: string }>(stored, [name]);
      if (other!.planId === planId) return await this.#jobs.putAgain(other!.id, transaction);
      const message = `${this.#connection.address} has a run "${name}" of another plan`;
      throw new BenchError('bad-option', message, 'choose another name with --run');
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

  /** Records that a worker is alive, and renews its claim if it has one. @returns false if the claim was lost */
  async beat(worker: string, claim: Claim | undefined): Promise<boolean> {
    return await this.#connection.transaction(async (transaction) => {
      await transaction.query(IS_ALIVE, [worker]);
      return claim === undefined || (await this.#jobs.renew(claim, transaction));
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
      const silent = reaps ? await this.#jobs.silent(run, transaction) : [];
      for (const claim of silent) await this.#fail(claim, `its worker was silent for ${LEASE_S} s`, transaction);
      const claim = await this.#jobs.take(run, transaction);
      const update = `UPDATE ${SCHEMA}.workers SET seen_at = now(), job = $2 WHERE id = $1`;
      await transaction.query(update, [worker, claim?.id]);
      return claim;
    }, signal);
  }

  /** Stores the results of a unit and ends its job; refuses them as `stale` if another worker has the unit now. */
  async store(
    claim: Claim,
    { worker, planId }: { readonly worker: string; readonly planId: string },
    { content, turns }: PackedBundle,
    signal: AbortSignal,
  ): Promise<'stored' | 'stale'> {
    const { run, position, retryCount, startedOn } = claim;
    const sha256 = createHash('sha256').update(content).digest('hex');
    return await this.#connection.retryTransaction(async (transaction) => {
      const { query } = transaction;
      if ((await query(`SELECT FROM ${SCHEMA}.runs WHERE id = $1 AND plan_id = $2`, [run, planId])).length === 0) {
        throw new BenchError('bad-option', 'results of another plan are refused', 'start the worker again');
      }
      if (!(await this.#jobs.complete(claim, transaction))) {
        // An earlier attempt may have stored them, with its answer lost.
        const ownBundle = `SELECT FROM ${SCHEMA}.bundles WHERE run_id = $1 AND position = $2 AND worker = $3`;
        return (await query(ownBundle, [run, position, worker])).length > 0 ? 'stored' : 'stale';
      }
      await query(
        `INSERT INTO ${SCHEMA}.bundles (run_id, position, worker, attempt, turns, sha256, content, claimed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
        [run, position, worker, retryCount + 1, turns, sha256, content, startedOn],
      );
      return 'stored';
    }, signal);
  }

  /** Ends a claim after a failed attempt: the unit is retried later, or given up. */
  async fail(claim: Claim, reason: string): Promise<void> {
    await this.#connection.transaction((transaction) => this.#fail(claim, reason, transaction));
  }

  /** Ends a claim without counting an attempt. */
  async giveBack(claim: Claim): Promise<void> {
    await this.#connection.transaction((transaction) => this.#jobs.giveBack(claim, transaction));
  }

  /** Units that wait or are being worked on, and the latter alone. */
  count(run: string, signal?: AbortSignal) {
    return this.#connection.retry(() => this.#jobs.count(run), signal);
  }

  async #fail(claim: Claim, reason: string, transaction: QueueTransaction): Promise<void> {
    if (!(await this.#jobs.fail(claim, reason, transaction))) return;
    const insert = `INSERT INTO ${SCHEMA}.failures (run_id, position, worker, reason)
      SELECT run_id, $2, id, $3 FROM ${SCHEMA}.workers WHERE job = $1 ORDER BY seen_at DESC LIMIT 1`;
    await transaction.query(insert, [claim.id, claim.position, reason]);
  }
}

const IS_ALIVE = `UPDATE ${SCHEMA}.workers SET seen_at = now() WHERE id = $1`;
