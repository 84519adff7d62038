import { randomUUID } from 'node:crypto';
import { eq, getTableColumns, or, type SQL, sql } from 'drizzle-orm';
import { BenchError } from '../base/bench-error.ts';
import { type RunResults, runResults } from './records/run-results.ts';
import { type RunRecord, runRecord } from './records/run-record.ts';
import { requireSchemaVersion, schemaVersion } from './records/schema-version.ts';
import { beginsWith, Repository } from './database.ts';
import { checkStoredRecord } from './check-stored-record.ts';
import { runs, turns } from './schema.ts';
import type { TurnListRow } from './turn-list-repository.ts';

/** A run that is about to start, without self-tests and results. */
export type NewRun = Omit<RunRecord, 'schemaVersion' | 'id' | 'status' | 'probes' | 'startedAt' | 'finishedAt'>;

/** Parts of a run that change while it goes on. */
type RunUpdate = Partial<Pick<RunRecord, 'status' | 'probes' | 'finishedAt'> & { readonly results: RunResults }>;

/** What a list shows of a run. */
export interface RunListEntry extends Pick<RunRecord, 'id' | 'name' | 'suite' | 'status' | 'startedAt' | 'finishedAt'> {
  readonly model: string;
  readonly dataset: string;
  readonly items: number;
  /** Size of the results; null before there are any. */
  readonly resultsBytes: number | null;
}

export class RunRepository extends Repository {
  /**
   * Stores a run that starts now and returns it.
   * @param startedAt milliseconds since 1970, for a run that was made elsewhere
   * @throws BenchError `bad-option` if the name is taken
   */
  create(run: NewRun, startedAt = Date.now()): RunRecord {
    return this.database.transaction((query) => {
      this.requireFree(run.name);
      const row = { ...run, schemaVersion, id: randomUUID(), status: 'running', startedAt } as const;
      query.insert(runs).values(row).run();
      return this.findById(row.id)!;
    });
  }

  /** @throws BenchError `bad-option` if the name is taken */
  requireFree(name: string): void {
    if (this.findByName(name) === undefined) return;
    const hint = `go on with it by --resume ${name}, or choose another name`;
    throw new BenchError('bad-option', `${this.database.path} has a run '${name}' already`, hint);
  }

  /** Stores a finished run of a report with its results and the rows of its turns, in their order. */
  add(run: RunRecord, results: RunResults, rows: readonly Omit<TurnListRow, 'turnId' | 'runId'>[]): void {
    const shared = { runId: run.id, sessionId: '', position: 0, createdAt: run.startedAt };
    this.database.transaction((query) => {
      const stored = { ...run, results };
      query.insert(runs).values(stored).run();
      for (const row of rows) {
        const turn = { ...row, ...shared, state: row.error === null ? 'answered' : 'failed' } as const;
        query.insert(turns).values(turn).run();
      }
    });
  }

  /** The run of that name, or undefined. @throws BenchError `database` for records of another version */
  findByName(name: string): RunRecord | undefined {
    return this.#read(eq(runs.name, name))[0];
  }

  /** The run of that id, or undefined. @throws BenchError `database` for records of another version */
  findById(id: string): RunRecord | undefined {
    return this.#read(eq(runs.id, id))[0];
  }

  /** All runs, the oldest first. @throws BenchError `database` for records of another version */
  list(): RunRecord[] {
    return this.#read(undefined);
  }

  /** The run of that name and the runs `NAME/…`, oldest first. */
  listGroup(name: string): RunRecord[] {
    return this.#read(or(eq(runs.name, name), beginsWith(runs.name, `${name}/`)));
  }

  /** The final results of a run, or null. @throws BenchError `database` for results of another version */
  results(id: string): RunResults | null {
    const { name, results } = runs;
    const row = this.database.guard((query) => query.select({ name, results }).from(runs).where(eq(runs.id, id)).get());
    if (row === undefined || row.results === null) return null;
    const what = `the result document of run "${row.name}" in ${this.database.path}`;
    requireSchemaVersion(row.results.schemaVersion, what);
    return checkStoredRecord(runResults, row.results, what);
  }

  /** All runs, oldest first, as a list shows them. */
  listEntries(): RunListEntry[] {
    return this.query(
      sql`SELECT id, name, suite, status, started_at AS startedAt, finished_at AS finishedAt,
        model ->> '$.name' AS model, dataset ->> '$.name' AS dataset, dataset ->> '$.items' AS items,
        length(results) AS resultsBytes
      FROM runs ORDER BY started_at, rowid`,
    );
  }

  names(): string[] {
    const rows = this.query<{ readonly name: string }>(sql`SELECT name FROM runs ORDER BY started_at, rowid`);
    return rows.map(({ name }) => name);
  }

  /** Changes the given parts of a run. @throws BenchError `not-found` if there is no such run */
  update(id: string, change: RunUpdate): void {
    const { changes } = this.database.guard((query) => query.update(runs).set(change).where(eq(runs.id, id)).run());
    if (changes === 0) {
      throw new BenchError('not-found', `${this.database.path} has no run with id ${id}`, 'it was deleted meanwhile');
    }
  }

  #read(where: SQL | undefined): RunRecord[] {
    const { results: _, ...columns } = getTableColumns(runs);
    const oldestFirst = sql`started_at, rowid`;
    const rows = this.database.guard((query) =>
      query.select(columns).from(runs).where(where).orderBy(oldestFirst).all(),
    );
    return rows.map((row) => {
      const name = `run "${row.name}" in ${this.database.path}`;
      requireSchemaVersion(row.schemaVersion, name);
      return checkStoredRecord(runRecord, row, name);
    });
  }
}
