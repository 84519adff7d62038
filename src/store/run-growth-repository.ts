import { and, asc, count, desc, eq, gt, isNotNull, lte, max, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { turns, type TurnRow } from './schema.ts';
import { cutText } from './turn-list-repository.ts';

/** Turns of a run that were written after another, with the faults among them. */
export interface NewTurns {
  readonly turns: number;
  /** Id of the last of them; undefined without any. */
  readonly last: number | undefined;
  /** Those that failed, or fail a check by themselves, counted by checks. */
  readonly faults: readonly { readonly failed: boolean; readonly checks: string | null; readonly turns: number }[];
}

/** A turn that failed, or fails a check by itself; a long message is cut. */
export type FaultyTurn = Pick<TurnRow, 'itemId' | 'arm' | 'repeat' | 'turn' | 'error' | 'failedChecks'>;

/** A turn of a user: its value of the primary metric. */
export type TurnValue = Pick<TurnRow, 'userId' | 'itemId' | 'arm'> & {
  readonly failed: boolean;
  readonly value: number | null;
};

/** Growth of a run that is being written, read again and again at the cost of what is new. */
export class RunGrowthRepository {
  readonly #database: BenchDatabase;
  readonly #runId: string;

  constructor(database: BenchDatabase, runId: string) {
    this.#database = database;
    this.#runId = runId;
  }

  /** All turns of the run. */
  turns(): number {
    return this.#database.guard(
      () =>
        this.#database.query.select({ turns: count() }).from(turns).where(eq(turns.runId, this.#runId)).get()!.turns,
    );
  }

  /** The turns behind that one, in the order of writing. @param after an id, 0 for all */
  newTurns(after: number): NewTurns {
    const isNew = and(eq(turns.runId, this.#runId), gt(turns.id, after));
    const failed = sql<number>`${turns.state} = 'failed'`;
    const { query } = this.#database;
    return this.#database.guard(() => {
      const found = query
        .select({ turns: count(), last: max(turns.id) })
        .from(turns)
        .where(isNew)
        .get()!;
      const faults = query
        .select({ failed, checks: turns.failedChecks, turns: count() })
        .from(turns)
        .where(and(isNew, isNotNull(turns.failedChecks)))
        .groupBy(failed, turns.failedChecks)
        .all();
      return {
        turns: found.turns,
        last: found.last ?? undefined,
        faults: faults.map((fault) => ({ ...fault, failed: fault.failed === 1 })),
      };
    });
  }

  /** The latest turns that failed, or fail a check by themselves, the last first. */
  latestFaults(most: number): FaultyTurn[] {
    const { id, itemId, arm, repeat, turn, failedChecks, error } = turns;
    return this.#database.guard(() =>
      this.#database.query
        .select({ itemId, arm, repeat, turn, failedChecks, error: sql<string | null>`${cutText(error)}` })
        .from(turns)
        .where(and(eq(turns.runId, this.#runId), isNotNull(failedChecks)))
        .orderBy(desc(id))
        .limit(most)
        .all(),
    );
  }

  /** All turns of a user. */
  valuesOf(userId: string): TurnValue[] {
    const { itemId, arm, state, primaryValue: value } = turns;
    return this.#database.guard(() =>
      this.#database.query
        .select({ userId: turns.userId, itemId, arm, value, state })
        .from(turns)
        .where(and(eq(turns.runId, this.#runId), eq(turns.userId, userId)))
        .orderBy(asc(turns.id))
        .all()
        .map(({ state: end, ...turn }) => ({ ...turn, failed: end === 'failed' })),
    );
  }

  /** When the latest turns were written, milliseconds since 1970, and their items, in the order of writing. @param last of the run, by id */
  latestTimes(last: number, most: number): { readonly itemId: string; readonly createdAt: number }[] {
    const { itemId, createdAt } = turns;
    return this.#database.guard(() =>
      this.#database.query
        .select({ itemId, createdAt })
        .from(turns)
        // Their ids lie together: an index on the run would lead through all of it.
        .where(and(gt(turns.id, last - most), lte(turns.id, last), sql`+${turns.runId} = ${this.#runId}`))
        .orderBy(asc(turns.id))
        .all(),
    );
  }
}
