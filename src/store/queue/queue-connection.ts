import pg from 'pg';
import { setTimeout as wait } from 'node:timers/promises';
import { BenchError } from '../../base/bench-error.ts';
import { postgresAddress } from '../../config/server-address.ts';
import { isAway, reasonOf } from './away.ts';

/** A server that does not answer one call in this time is away. */
const CALL_MS = 10_000;
/** A server that is away for longer is not waited for. */
const PATIENCE_MS = 600_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Statements of one transaction. */
export interface QueueTransaction {
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** The form in which pg-boss takes a connection. */
  readonly boss: { executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> };
}

/** A PostgreSQL server that holds a queue; its address is shown without user and password. */
export class QueueConnection implements AsyncDisposable {
  readonly address: string;
  readonly #pool: pg.Pool;

  /** @param url `postgres://…` @throws BenchError `bad-option` for an invalid one */
  constructor(url: string) {
    this.address = postgresAddress(url, '--queue');
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'dki-bench',
      max: 2,
      keepAlive: true,
      connectionTimeoutMillis: CALL_MS,
      // On either side: a network that hangs lets no answer through.
      statement_timeout: CALL_MS,
      query_timeout: CALL_MS + 1000,
      idle_in_transaction_session_timeout: CALL_MS,
    });
    // A connection that breaks when idle: the next call opens another.
    this.#pool.on('error', () => undefined);
  }

  /** The form in which pg-boss takes a connection, outside of transactions. */
  get boss(): QueueTransaction['boss'] {
    return { executeSql: (text, values) => this.#once(() => this.#pool.query(text, values)) };
  }

  /** Runs `work` as one transaction: all of it is stored, or nothing. @throws BenchError `database`, or what `work` throws */
  transaction<Result>(work: (transaction: QueueTransaction) => Promise<Result>): Promise<Result> {
    return this.#once(() => this.#transaction(work));
  }

  /**
   * As `transaction`, again and again while the server is away. It may have stored what it could not confirm: `work` must
   * recognise that it was done.
   * @throws BenchError `database` where it is away for ten minutes; the reason of the signal
   */
  patiently<Result>(work: (transaction: QueueTransaction) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.again(() => this.#transaction(work), signal);
  }

  /** Makes a call again and again while the server is away. @throws as `patiently` */
  async again<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const start = performance.now();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted();
      try {
        return await call();
      } catch (error) {
        if (!isAway(error) || performance.now() - start > PATIENCE_MS) throw this.#failure(error);
        // Not all at once, when it is there again.
        await wait(pause * (0.5 + Math.random()), undefined, { ...(signal === undefined ? {} : { signal }) });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #once<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #transaction<Result>(work: (transaction: QueueTransaction) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    // One that breaks in use: its call fails by itself.
    const onError = (error: Error): void => void (broken = error);
    client.on('error', onError);
    try {
      await client.query('BEGIN');
      const result = await work({
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query(text, [...values])).rows as Row[],
        boss: { executeSql: (text, values) => client.query(text, values) },
      });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      broken ??= isAway(error) ? (error as Error) : undefined;
      if (broken === undefined) await client.query('ROLLBACK').catch((failure: unknown) => (broken = failure as Error));
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  #failure(error: unknown): unknown {
    if (error instanceof BenchError || !isOfServer(error)) return error;
    return new BenchError(
      'database',
      `${this.address}: ${reasonOf(error)}`,
      'check --queue, and that the server runs and can be reached',
      error,
    );
  }
}

/** An answer of the server, or the lack of one, and no mistake of this program. */
function isOfServer(error: unknown): boolean {
  return error instanceof pg.DatabaseError || isAway(error);
}
