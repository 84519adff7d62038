import pg from 'pg';
import { setTimeout as wait } from 'node:timers/promises';
import { BenchError, innermostReason } from '../../base/bench-error.ts';
import { postgresAddress, postgresClientUrl } from '../../config/normalise-server-addresses.ts';

/** A server that does not answer a call in this time is away. */
const CALL_MS = 10_000;
/** How long to wait for a server that is away. */
const PATIENCE_MS = 600_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

export interface QueueTransaction {
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** The transaction as a connection for pg-boss. */
  readonly boss: { executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> };
}

/** A PostgreSQL server with a queue; `address` has no user and password. */
export class QueueConnection implements AsyncDisposable {
  readonly address: string;
  readonly #pool: pg.Pool;

  /** @param url `postgres://…` @throws BenchError `bad-option` for an invalid one */
  constructor(url: string) {
    this.address = postgresAddress(url, '--queue');
    this.#pool = new pg.Pool({
      connectionString: postgresClientUrl(url),
      application_name: 'dki-bench',
      max: 2,
      keepAlive: true,
      connectionTimeoutMillis: CALL_MS,
      // Limits in the server and in the client: if the network hangs, no answer arrives.
      statement_timeout: CALL_MS,
      query_timeout: CALL_MS + 1000,
      idle_in_transaction_session_timeout: CALL_MS,
    });
    // If an idle connection breaks, the next call opens another.
    this.#pool.on('error', () => undefined);
  }

  /** The connection for pg-boss, outside transactions. */
  get boss(): QueueTransaction['boss'] {
    return { executeSql: (text, values) => this.#query(text, values) };
  }

  /** The rows of one statement. @throws BenchError `database` */
  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#query(text, [...values])).rows as Row[];
  }

  /** Runs `work` as one transaction: all of it is stored, or nothing. @throws BenchError `database`, or what `work` throws */
  async transaction<Result>(work: (transaction: QueueTransaction) => Promise<Result>): Promise<Result> {
    try {
      return await this.#transaction(work);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * Like `transaction`, repeated while the server is away. An attempt may have been stored but not confirmed, so `work` must
   * recognise what is already done.
   * @throws BenchError `database` if the server is away for ten minutes; the reason of the signal
   */
  retryTransaction<Result>(
    work: (transaction: QueueTransaction) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.retry(() => this.#transaction(work), signal);
  }

  /** Repeats a call while the server is away. @throws as `retryTransaction` */
  async retry<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const start = performance.now();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted();
      try {
        return await call();
      } catch (error) {
        if (!isAway(error) || performance.now() - start > PATIENCE_MS) throw this.#failure(error);
        // Random, so that workers do not come back all at once.
        await wait(pause * (0.5 + Math.random()), undefined, signal && { signal });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #transaction<Result>(work: (transaction: QueueTransaction) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw this.#unanswered(error);
    });
    let broken: Error | undefined;
    // If the connection breaks during a call, the call itself fails.
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

  async #query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    try {
      return await this.#pool.query(text, values);
    } catch (error) {
      throw this.#unanswered(error);
    }
  }

  #failure(error: unknown): unknown {
    // Errors of this program stay as they are.
    const isOurs = error instanceof BenchError || !(error instanceof pg.DatabaseError || isAway(error));
    return isOurs ? error : this.#unanswered(error);
  }

  /** The error for a call that the server did not answer, or refused. */
  #unanswered(error: unknown): BenchError {
    const hint = 'check --queue, and that the server runs and can be reached';
    return new BenchError('database', `${this.address}: ${innermostReason(error)}`, hint, error);
  }
}

/** SQLSTATEs of a server that is stopping, starting or full. */
const temporary = /^(?:08|53300|57P0[1235]|40001|40P01|55P03|57014|25P03)/;
/** Codes of the operating system if no server answers. */
const unreached = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND)/;
/** Messages of the client library, which has no codes for them. */
const lost = /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired)/;

/** True if the server is away, starting, stopping or too busy, so that the same call can succeed later. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isAway);
  if (!(error instanceof Error)) return false;
  if (error instanceof BenchError) return isAway(error.cause);
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? temporary.test(code) || unreached.test(code) : lost.test(error.message);
}
