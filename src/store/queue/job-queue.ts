import { PgBoss } from 'pg-boss';
import { BenchError } from '../../base/bench-error.ts';
import type { QueueConnection, QueueTransaction } from './queue-connection.ts';

const SCHEMA = 'dki_bench_jobs';
/** A unit that fails this often is put aside. */
const ATTEMPTS = 6;
/** The second attempt waits for 2 to 4 s, each later one twice as long as the one before. */
const RETRY_DELAY_S = 2;
const YEAR_S = 31_536_000;

/** A unit to be put into the queue; larger priorities are taken first. */
export interface QueuedUnit {
  /** Place of the user in the plan, or another number of the caller's. */
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

/** The jobs of runs, in pg-boss: a queue a run, and one for jobs that failed too often. They do not expire by a clock. */
export class JobQueue implements AsyncDisposable {
  readonly #boss: PgBoss;
  readonly #connection: QueueConnection;

  private constructor(boss: PgBoss, connection: QueueConnection) {
    this.#boss = boss;
    this.#connection = connection;
  }

  /** @param options.creates makes missing tables of pg-boss @throws BenchError `database` for those of another version */
  static async open(connection: QueueConnection, { creates }: { readonly creates: boolean }): Promise<JobQueue> {
    const { boss: db, address } = connection;
    // It neither supervises jobs nor registers itself.
    const idle = { supervise: false, schedule: false, registerInstance: false };
    const boss = new PgBoss({ db, schema: SCHEMA, migrate: creates, ...idle });
    // Each call throws its own error.
    boss.on('error', () => undefined);
    try {
      return new JobQueue(await boss.start(), connection);
    } catch (error) {
      if (error instanceof BenchError) throw error;
      const message = `${address}: its jobs are of another version: ${(error as Error).message}`;
      const hint =
        'merge what it holds with that version, then forget it: DROP SCHEMA dki_bench_queue, dki_bench_jobs CASCADE';
      throw new BenchError('database', message, hint, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ close: false, graceful: false });
  }

  async create(run: string): Promise<void> {
    const kept = { retentionSeconds: YEAR_S };
    await this.#boss.createQueue(setAside(run), kept);
    await this.#boss.createQueue(run, {
      ...kept,
      deadLetter: setAside(run),
      retryLimit: ATTEMPTS - 1,
      retryDelay: RETRY_DELAY_S,
      retryBackoff: true,
    });
  }

  async put(run: string, units: readonly QueuedUnit[], { boss: db }: QueueTransaction): Promise<void> {
    const jobs = units.map(({ position, priority }) => ({ priority, data: { position } }));
    await this.#boss.insert(run, jobs, { db });
  }

  /** Puts units that failed too often into the queue again, and returns their number. */
  async putAgain(run: string, { boss: db }: QueueTransaction): Promise<number> {
    const jobs = await this.#boss.fetch<{ position: number }>(setAside(run), { batchSize: 100_000, db });
    if (jobs.length === 0) return 0;
    const ids = jobs.map(({ id }) => id);
    await this.#boss.complete(setAside(run), ids, null, { db });
    const again = jobs.map(({ data }) => ({ data }));
    await this.#boss.insert(run, again, { db });
    return jobs.length;
  }

  /** Takes the next job; undefined where none can be taken now. */
  async take(run: string, { boss: db }: QueueTransaction): Promise<TakenJob | undefined> {
    const [job] = await this.#boss.fetch<{ position: number }>(run, { includeMetadata: true, db });
    if (job === undefined) return undefined;
    const { id, data, priority, retryCount } = job;
    return { job: id, position: data.position, priority, attempt: retryCount + 1 };
  }

  async complete(run: string, job: string, { boss: db }: QueueTransaction): Promise<void> {
    await this.#boss.complete(run, job, null, { db });
  }

  /** Counts an attempt as failed: the job is taken again later, or put aside. */
  async fail(run: string, job: string, reason: string, { boss: db }: QueueTransaction): Promise<void> {
    await this.#boss.fail(run, job, { reason }, { db });
  }

  /** Gives a job back as if it had never been taken. */
  async giveBack(run: string, { job, ...unit }: TakenJob, transaction: QueueTransaction): Promise<void> {
    await this.complete(run, job, transaction);
    await this.put(run, [unit], transaction);
  }

  async open(run: string): Promise<number> {
    // Counted here: what pg-boss says of a queue may be an hour old.
    const counted = `SELECT count(*)::int AS open FROM ${SCHEMA}.job WHERE name = $1 AND state < 'completed'`;
    return (await this.#connection.rows<{ open: number }>(counted, [run]))[0]!.open;
  }
}

function setAside(run: string): string {
  return `${run}_failed`;
}
