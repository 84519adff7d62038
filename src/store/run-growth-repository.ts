import { type SQL, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';

/** Turns of a run that were written after another, with the faults among them. */
export interface NewTurns {
  readonly turns: number;
  /** Id of the last of them; undefined without any. */
  readonly last: number | undefined;
  /** Those that failed, or fail a check by themselves, counted by checks. */
  readonly faults: readonly { readonly failed: boolean; readonly checks: string | null; readonly turns: number }[];
}

/** A turn that failed, or fails a check by itself; a long message is cut. */
export interface FaultyTurn {
  readonly itemId: string;
  readonly arm: string;
  readonly repeat: number;
  readonly turn: number;
  readonly error: string | null;
  readonly failedChecks: string | null;
}

/** A turn of a user: its value of the primary metric. */
export interface TurnValue {
  readonly userId: string;
  readonly itemId: string;
  readonly arm: string;
  readonly failed: boolean;
  readonly value: number | null;
}

/** Growth of a run that is being written, read again and again at the cost of what is new. */
export class RunGrowthRepository {
  readonly #database: BenchDatabase;
  readonly #runId: string;

  constructor(database: BenchDatabase, runId: string) {
    this.#database = database;
    this.#runId = runId;
  }

  /** The number of turns of the run. */
  turns(): number {
    return this.#all<{ turns: number }>(sql`SELECT count(*) AS turns FROM turns WHERE run_id = ${this.#runId}`)[0]!
      .turns;
  }

  /** The turns behind one, in the order of writing. @param after an id, 0 for all */
  newTurns(after: number): NewTurns {
    const isNew = sql`run_id = ${this.#runId} AND id > ${after}`;
    const [found] = this.#all<{ turns: number; last: number | null }>(
      sql`SELECT count(*) AS turns, max(id) AS last FROM turns WHERE ${isNew}`,
    );
    const faults = this.#all<{ failed: number; checks: string; turns: number }>(
      sql`SELECT state = 'failed' AS failed, failed_checks AS checks, count(*) AS turns FROM turns
        WHERE ${isNew} AND failed_checks IS NOT NULL GROUP BY failed, checks`,
    );
    return {
      turns: found!.turns,
      last: found!.last ?? undefined,
      faults: faults.map((fault) => ({ ...fault, failed: fault.failed === 1 })),
    };
  }

  /** The latest turns that failed, or fail a check by themselves, the last first. */
  latestFaults(most: number): FaultyTurn[] {
    return this.#all(
      sql`SELECT item_id AS itemId, arm, repeat, turn, failed_checks AS failedChecks, substr(error, 1, 300) AS error
        FROM turns WHERE run_id = ${this.#runId} AND failed_checks IS NOT NULL ORDER BY id DESC LIMIT ${most}`,
    );
  }

  /** All turns of a user. */
  userValues(userId: string): TurnValue[] {
    const rows = this.#all<Omit<TurnValue, 'failed'> & { state: string }>(
      sql`SELECT user_id AS userId, item_id AS itemId, arm, primary_value AS value, state FROM turns
        WHERE run_id = ${this.#runId} AND user_id = ${userId} ORDER BY id`,
    );
    return rows.map(({ state, ...turn }) => ({ ...turn, failed: state === 'failed' }));
  }

  /** When the latest turns were written, milliseconds since 1970, and their items, in the order of writing. @param last of the run, by id */
  latestTimes(last: number, most: number): { readonly itemId: string; readonly createdAt: number }[] {
    // Their ids lie together: `+` keeps SQLite from an index on the run, which would read all of it.
    return this.#all(
      sql`SELECT item_id AS itemId, created_at AS createdAt FROM turns
        WHERE id > ${last - most} AND id <= ${last} AND +run_id = ${this.#runId} ORDER BY id`,
    );
  }

  #all<Row>(statement: SQL): Row[] {
    return this.#database.guard((query) => query.all<Row>(statement));
  }
}
