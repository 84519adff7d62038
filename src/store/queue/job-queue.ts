import { PgBoss } from 'pg-boss';
import { BenchError } from '../../base/bench-error.ts';
import type { QueueConnection, QueueTransaction } from './queue-connection.ts';

const SCHEMA = 'dki_bench_jobs';
/** A worker that gives no sign of life for so long loses its unit. */
export const LEASE_S = 30;
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

/** A worker's exclusive hold on a unit, until the unit is stored, given back or lost. */
export interface Claim extends QueuedUnit {
  readonly run: string;
  /** The job of pg-boss, which renews or ends a hold only if job and attempt match. */
  readonly id: string;
  /** The attempt, from 0. */
  readonly retryCount: number;
  readonly startedOn: Date;
}

export type JobQueue = Awaited<ReturnType<typeof openJobQueue>>;

/**
 * Jobs in pg-boss: per run one queue, and one for units that failed too often. Jobs have no time limit, but a lease. Calls for a claim
 * return false if it was lost.
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
        heartbeatSeconds: LEASE_S,
        retryLimit: ATTEMPTS - 1,
        retryDelay: RETRY_DELAY_S,
        retryBackoff: true,
      });
    },
    async put(run: string, units: readonly QueuedUnit[], { boss: db }: QueueTransaction): Promise<void> {
      const jobs = units.map(({ position, priority }) => ({ priority, data: { position } }));
      await boss.insert(run, jobs, { db });
    },
    /** Requeues units that failed too often, and returns their number. */
    putAgain: (run: string, { boss: db }: QueueTransaction): Promise<number> =>
      boss.redrive(failedQueue(run), { limit: 100_000, db }),
    /** Claims the next unit; undefined if none is available. */
    async take(run: string, { boss: db }: QueueTransaction): Promise<Claim | undefined> {
      const [job] = await boss.fetch<{ position: number }>(run, { includeMetadata: true, db });
      if (job === undefined) return undefined;
      const { id, data, priority, retryCount, startedOn } = job;
      return { run, id, retryCount, startedOn, priority, position: data.position };
    },
    async renew(claim: Claim, { boss: db }: QueueTransaction): Promise<boolean> {
      return isDone(await boss.touch(claim.run, claim, { db }));
    },
    async complete(claim: Claim, { boss: db }: QueueTransaction): Promise<boolean> {
      return isDone(await boss.complete(claim.run, claim, null, { db }));
    },
    /** Counts an attempt as failed: the job is retried later, or given up. */
    async fail(claim: Claim, reason: string, { boss: db }: QueueTransaction): Promise<boolean> {
      return isDone(await boss.fail(claim.run, claim, { reason }, { db }));
    },
    /** Ends a claim without counting an attempt. */
    async giveBack(claim: Claim, transaction: QueueTransaction): Promise<void> {
      if (await queue.complete(claim, transaction)) await queue.put(claim.run, [claim], transaction);
    },
    /** The claims of a run that were not renewed for `LEASE_S`. */
    async silent(run: string, { query }: QueueTransaction): Promise<readonly Claim[]> {
      return await query<Claim>(
        `SELECT name AS run, id, retry_count AS "retryCount", started_on AS "startedOn", priority,
          (data->>'position')::int AS position
        FROM ${SCHEMA}.job WHERE name = $1 AND state = 'active' AND heartbeat_on < now() - heartbeat_seconds * interval '1 s'
        FOR UPDATE SKIP LOCKED`,
        [run],
      );
    },
    /** Units that wait or are being worked on, and the latter alone. */
    async count(run: string) {
      // Counted here, because the counts of pg-boss may be an hour old.
      const counted = `SELECT count(*)::int AS open, (count(*) FILTER (WHERE state = 'active'))::int AS "underWay"
        FROM ${SCHEMA}.job WHERE name = $1 AND state < 'completed'`;
      return (await connection.rows<Record<'open' | 'underWay', number>>(counted, [run]))[0]!;
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

/** True if a call met the attempt that it named; the types of pg-boss leave out the count. */
function isDone(response: object): boolean {
  return (response as { readonly affected: number }).affected > 0;
}

function failedQueue(run: string): string {
  return `${run}_failed`;
}
