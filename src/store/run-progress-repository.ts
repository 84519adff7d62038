import { type SQL, sql } from 'drizzle-orm';
import { type BenchDatabase, Repository } from './database.ts';
import type { TurnRow } from './schema.ts';

/** A turn that failed, or fails a check by itself; a long message is cut. */
type FaultyTurn = Pick<TurnRow, 'itemId' | 'arm' | 'repeat' | 'turn' | 'error' | 'failedChecks'>;

/** What an observer reads of a run while its turns are being written. */
export class RunProgressRepository extends Repository {
  readonly #isOfRun: SQL;

  constructor(database: BenchDatabase, runId: string) {
    super(database);
    this.#isOfRun = sql`run_id = ${runId}`;
  }

  /** Counts the turns, and the faulty ones by failed checks; `last` is the highest id, null without turns. */
  count() {
    const faults = this.query<{ failed: number; checks: string; turns: number }>(
      sql`SELECT state = 'failed' AS failed, failed_checks AS checks, count(*) AS turns FROM turns
        WHERE ${this.#isOfRun} AND failed_checks IS NOT NULL GROUP BY failed, checks`,
    );
    const [counts] = this.query<{ turns: number; last: number | null }>(
      sql`SELECT count(*) AS turns, max(id) AS last FROM turns WHERE ${this.#isOfRun}`,
    );
    return { ...counts!, faults: faults.map((one) => ({ ...one, failed: one.failed === 1 })) };
  }

  latestFaults(most: number): FaultyTurn[] {
    return this.query(
      sql`SELECT item_id AS itemId, arm, repeat, turn, failed_checks AS failedChecks, substr(error, 1, 300) AS error
        FROM turns WHERE ${this.#isOfRun} AND failed_checks IS NOT NULL ORDER BY id DESC LIMIT ${most}`,
    );
  }

  /** Items and writing times (ms since 1970) of the latest turns, in the order of writing. @param last the highest id */
  latestTimes(last: number, most: number): { readonly itemId: string; readonly createdAt: number }[] {
    // The ids are adjacent. `+` keeps SQLite from using the index on the run, which would read the whole run.
    return this.query(
      sql`SELECT item_id AS itemId, created_at AS createdAt FROM turns
        WHERE id > ${last - most} AND id <= ${last} AND +${this.#isOfRun} ORDER BY id`,
    );
  }
}
