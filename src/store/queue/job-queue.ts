import { PgBoss } from 'pg-boss';
import { BenchError } from '../../base/bench-error.ts';
import type { QueueConnection, QueueTransaction } from './queue-connection.ts';

const SCHEMA = 'dki_bench_jobs';
/** A unit that fails this often is given up. */
const ATTEMPTS = 6;
/** The second attempt starts after 2 to 4 s; each later one waits twice as long as the one before. */
const RETRY_DELAY_S = 2;
const YEAR_S = 31_536_000;

/** A unit to be queued; larger priorities come first. */
export interface QueuedUnit {
  /** Index of the user in the plan; the caller chooses other numbers for other units, such as the isolation probe. */
  readonly position: number;
  readonly priority: number;
}

export interface TakenJob {
  readonly job: string;
  readonly position: number;
  readonly priority: number;
  /** From 1 on. */
  readonly attempt: number;
}

export type JobQueue = Awaited<ReturnType<typeof openJobQueue>>;

/**
 * Jobs in pg-boss: per run one queue, and one for units that failed too often. Jobs have no time limit.
 * @param options.creates creates missing tables of pg-boss @throws BenchError `database` for tables of another version
 */
export async function openJobQueue(connection: QueueConnection, options: { readonly creates: boolean }) {
  const boss = await startBoss(connection, options);
  const queue = {
    async create(run: string): Promise<void> {
      const retention = { retentionSeconds: YEAR_S };
      await boss.createQueue(failedQueue(run), retention);
      await boss.createQueue(run, {
        ...retention,
        deadLetter: failedQueue(run),
        retryLimit: ATTEMPTS - 1,
        retryDelay: RETRY_DELAY_S,
        retryBackoff: true,
      });
    },
    async put(run: string, units: readonly QueuedUnit[], { boss: db }: QueueTransaction): Promise<void> {
      const jobs = units.map(({ position, priority }) => ({ priority, data: { position, priority } }));
      await boss.insert(run, jobs, { db });
    },
    /** Requeues units that failed too often, and returns their number. */
    async putAgain(run: string, { boss: db }: QueueTransaction): Promise<number> {
      const jobs = await boss.fetch<QueuedUnit>(failedQueue(run), { batchSize: 100_000, db });
      if (jobs.length === 0) return 0;
      const ids = jobs.map(({ id }) => id);
      await boss.complete(failedQueue(run), ids, null, { db });
      // The queue of failed units does not keep the priority of a job.
      const again = jobs.map(({ data }) => ({ priority: data.priority, data }));
      await boss.insert(run, again, { db });
      return jobs.length;
    },
    /** Takes the next job; undefined if none is available. */
    async take(run: string, { boss: db }: QueueTransaction): Promise<TakenJob | undefined> {
      const [job] = await boss.fetch<{ position: number }>(run, { includeMetadata: true, db });
      if (job === undefined) return undefined;
      const { id, data, priority, retryCount } = job;
      return { job: id, position: data.position, priority, attempt: retryCount + 1 };
    },
    async complete(run: string, job: string, { boss: db }: QueueTransaction): Promise<void> {
      await boss.complete(run, job, null, { db });
    },
    /** Counts an attempt as failed: the job is retried later, or given up. */
    async fail(run: string, job: string, reason: string, { boss: db }: QueueTransaction): Promise<void> {
      await boss.fail(run, job, { reason }, { db });
    },
    /** Gives a job back without counting an attempt. */
    async giveBack(run: string, { job, ...unit }: TakenJob, transaction: QueueTransaction): Promise<void> {
      await queue.complete(run, job, transaction);
      await queue.put(run, [unit], transaction);
    },
    async countOpen(run: string): Promise<number> {
      // Counted here, because the counts of pg-boss may be an hour old.
      const counted = `SELECT count(*)::int AS open FROM ${SCHEMA}.job WHERE name = $1 AND state < 'completed'`;
      return (await connection.rows<{ open: number }>(counted, [run]))[0]!.open;
    },
    [Symbol.asyncDispose]: () => boss.stop({ close: false, graceful: false }),
  };
  return queue;
}

async function startBoss({ boss: db, address }: QueueConnection, { creates }: { readonly creates: boolean }) {
  // pg-boss shall neither supervise jobs nor register itself.
  const idle = { supervise: false, schedule: false, registerInstance: false };
  const boss = new PgBoss({ db, schema: SCHEMA, migrate: creates, ...idle });
  // Ignored here, because each call throws its own error.
  boss.on('error', () => undefined);
  try {
    return await boss.start();
  } catch (error) {
    if (error instanceof BenchError) throw error;
    const message = `${address}: its job tables cannot be opened, probably since another version made them: ${(error as Error).message}`;
    const hint =
      'merge the results with that version, then delete the queue: DROP SCHEMA dki_bench_queue, dki_bench_jobs CASCADE';
    throw new BenchError('database', message, hint, error);
  }
}

function failedQueue(run: string): string {
  return `${run}_failed`;
}
