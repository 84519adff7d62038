import { type SQL, sql } from 'drizzle-orm';
import { type BenchDatabase, Repository } from './database.ts';
import type { TurnRow } from './schema.ts';

/** A turn that failed, or fails a check by itself; a long message is cut. */
type FaultyTurn = Pick<TurnRow, 'itemId' | 'arm' | 'repeat' | 'turn' | 'error' | 'failedChecks'>;

export interface TurnValue extends Pick<TurnRow, 'userId' | 'itemId' | 'arm'> {
  readonly failed: boolean;
  readonly value: number | null;
}

/** Turns that are written while a run goes on, each read once. */
export class RunProgressRepository extends Repository {
  readonly #isOfRun: SQL;

  constructor(database: BenchDatabase, runId: string) {
    super(database);
    this.#isOfRun = sql`run_id = ${runId}`;
  }

  turns(): number {
    return this.#count(this.#isOfRun).turns;
  }

  /** Counts the turns after an id, and the failing ones by checks; `last` is the id of the last. @param after 0 for all */
  newTurns(after: number) {
    const isNew = sql`${this.#isOfRun} AND id > ${after}`;
    const faults = this.query<{ failed: number; checks: string; turns: number }>(
      sql`SELECT state = 'failed' AS failed, failed_checks AS checks, count(*) AS turns FROM turns
        WHERE ${isNew} AND failed_checks IS NOT NULL GROUP BY failed, checks`,
    );
    const { turns, last } = this.#count(isNew);
    return { turns, last: last ?? undefined, faults: faults.map((one) => ({ ...one, failed: one.failed === 1 })) };
  }

  latestFaults(most: number): FaultyTurn[] {
    return this.query(
      sql`SELECT item_id AS itemId, arm, repeat, turn, failed_checks AS failedChecks, substr(error, 1, 300) AS error
        FROM turns WHERE ${this.#isOfRun} AND failed_checks IS NOT NULL ORDER BY id DESC LIMIT ${most}`,
    );
  }

  userValues(userId: string): TurnValue[] {
    const rows = this.query<Omit<TurnValue, 'failed'> & { failed: number }>(
      sql`SELECT user_id AS userId, item_id AS itemId, arm, primary_value AS value, state = 'failed' AS failed FROM turns
        WHERE ${this.#isOfRun} AND user_id = ${userId} ORDER BY id`,
    );
    return rows.map((row) => ({ ...row, failed: row.failed === 1 }));
  }

  /** When the latest turns were written, milliseconds since 1970, and their items, in the order of writing. @param last of the run, by id */
  latestTimes(last: number, most: number): { readonly itemId: string; readonly createdAt: number }[] {
    // Their ids lie together: `+` keeps SQLite from an index on the run, which would read all of it.
    return this.query(
      sql`SELECT item_id AS itemId, created_at AS createdAt FROM turns
        WHERE id > ${last - most} AND id <= ${last} AND +${this.#isOfRun} ORDER BY id`,
    );
  }

  #count(where: SQL): { readonly turns: number; readonly last: number | null } {
    return this.query<{ turns: number; last: number | null }>(
      sql`SELECT count(*) AS turns, max(id) AS last FROM turns WHERE ${where}`,
    )[0]!;
  }
}
