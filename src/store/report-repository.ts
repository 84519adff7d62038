import { sql } from 'drizzle-orm';
import type { RunResults } from './records/results.ts';
import type { RunRecord } from './records/run-record.ts';
import type { BenchDatabase } from './database.ts';
import { runs, turnList, type TurnListRow } from './schema.ts';

/** Rows of one statement: SQLite takes so many values at once. */
const insertedAtOnce = 500;

/** Runs as their reports have them: results and rows of lists, and no turns. */
export class ReportRepository {
  readonly #database: BenchDatabase;

  /** @param database of its own: rows of lists refer to turns that are not there */
  constructor(database: BenchDatabase) {
    this.#database = database;
    database.query.run(sql`PRAGMA foreign_keys = OFF`);
  }

  /** Stores a run with its results and the rows of its turns, in their order. */
  add(run: RunRecord, results: RunResults, rows: readonly Omit<TurnListRow, 'turnId' | 'runId'>[]): void {
    this.#database.transaction(() => {
      this.#database.query
        .insert(runs)
        .values({ ...run, results })
        .run();
      for (let at = 0; at < rows.length; at += insertedAtOnce) {
        const part = rows.slice(at, at + insertedAtOnce).map((row) => ({ ...row, runId: run.id }));
        this.#database.query.insert(turnList).values(part).run();
      }
    });
  }
}
