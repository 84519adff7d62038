import { randomUUID } from 'node:crypto';
import { asc, eq, or, sql } from 'drizzle-orm';
import { BenchError } from '../config/bench-error.ts';
import type { BenchDatabase } from './database.ts';
import { runs, type RunRow } from './schema.ts';

/** A run as it starts: `running`, with nothing proven and no results. */
export type NewRun = Pick<
  RunRow,
  'name' | 'suite' | 'seed' | 'config' | 'environment' | 'model' | 'embedder' | 'dataset' | 'retriever'
>;
/** What may change while a run goes on. */
export type RunUpdate = Partial<Omit<RunRow, 'id' | 'name' | 'suite' | 'seed' | 'startedAt'>>;

/** A run as a list shows it, without the documents that it holds. */
export interface RunHead extends Pick<RunRow, 'id' | 'name' | 'suite' | 'status' | 'startedAt' | 'finishedAt'> {
  readonly model: string | null;
  readonly dataset: string | null;
  readonly items: number | null;
  /** Size of the results; null before there are any. */
  readonly resultsBytes: number | null;
}

/** By the time of starting, then of writing. */
const byAge = [asc(runs.startedAt), sql`${runs}.rowid`] as const;

/** The runs of the bench. */
export class RunRepository {
  readonly #database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /**
   * Stores a run that starts now and returns it.
   *
   * @throws BenchError `bad-option` where the name is taken
   */
  create(run: NewRun): RunRow {
    return this.#database.transaction(() => {
      const { name } = run;
      if (this.findByName(name) !== undefined) {
        const hint = `go on with it by --resume ${name}, or choose another name`;
        throw new BenchError('bad-option', `${this.#database.path} has a run '${name}' already`, hint);
      }
      return this.#database.query
        .insert(runs)
        .values({ ...run, id: randomUUID(), status: 'running', startedAt: Date.now() })
        .returning()
        .get();
    });
  }

  /** The run of that name, or undefined. */
  findByName(name: string): RunRow | undefined {
    return this.#database.guard(() => this.#database.query.select().from(runs).where(eq(runs.name, name)).get());
  }

  /** The run of that id, or undefined. */
  findById(id: string): RunRow | undefined {
    return this.#database.guard(() => this.#database.query.select().from(runs).where(eq(runs.id, id)).get());
  }

  /** All runs, the oldest first. */
  list(): RunRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(runs)
        .orderBy(...byAge)
        .all(),
    );
  }

  /** All runs, the oldest first, as a list shows them. */
  heads(): RunHead[] {
    const { id, name, suite, status, startedAt, finishedAt } = runs;
    return this.#database.guard(() =>
      this.#database.query
        .select({
          ...{ id, name, suite, status, startedAt, finishedAt },
          model: sql<string | null>`${runs.model} ->> '$.name'`,
          dataset: sql<string | null>`${runs.dataset} ->> '$.name'`,
          items: sql<number | null>`${runs.dataset} ->> '$.items'`,
          resultsBytes: sql<number | null>`length(${runs.results})`,
        })
        .from(runs)
        .orderBy(...byAge)
        .all(),
    );
  }

  /** The run of that name, and those `NAME/…` that were made together under it, the oldest first. */
  listGroup(name: string): RunRow[] {
    const prefix = `${name}/`;
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(runs)
        .where(or(eq(runs.name, name), eq(sql`substr(${runs.name}, 1, ${prefix.length})`, prefix)))
        .orderBy(...byAge)
        .all(),
    );
  }

  /** The names of all runs, the oldest first. */
  names(): string[] {
    return this.#database.guard(() =>
      this.#database.query
        .select({ name: runs.name })
        .from(runs)
        .orderBy(...byAge)
        .all()
        .map(({ name }) => name),
    );
  }

  /**
   * Changes what is given and leaves the rest.
   *
   * @throws BenchError `not-found` where there is no such run
   */
  update(id: string, change: RunUpdate): void {
    const { changes } = this.#database.guard(() =>
      this.#database.query.update(runs).set(change).where(eq(runs.id, id)).run(),
    );
    if (changes === 0) {
      throw new BenchError('not-found', `${this.#database.path} has no run with id ${id}`, 'it was deleted meanwhile');
    }
  }
}
