import { and, asc, count, desc, eq, gt, inArray, isNotNull, lte, max, or, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { rowsOfRun } from './rows-of-run.ts';
import { turnList, type TurnListRow, turns } from './schema.ts';
import { TurnIndexRepository } from './turn-index/turn-index-repository.ts';

/** Turns of a run that were written after another, with the faults among them. */
export interface NewTurns {
  readonly turns: number;
  /** Id of the last of them; undefined without any. */
  readonly last: number | undefined;
  /** Those that failed, or fail a check by themselves, counted by checks. */
  readonly faults: readonly { readonly failed: boolean; readonly checks: string | null; readonly turns: number }[];
}

/** A turn that failed, or fails a check by itself; a long message is cut. */
export type FaultyTurn = Pick<TurnListRow, 'itemId' | 'arm' | 'repeat' | 'turn' | 'error' | 'failedChecks'>;

/** A turn of a user: its value of the primary metric. */
export type TurnValue = Pick<TurnListRow, 'userId' | 'itemId' | 'arm'> & {
  readonly failed: boolean;
  readonly value: number | null;
};

/** Characters of a message of an error. */
const shownCharacters = 300;

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
    const index = new TurnIndexRepository(this.#database).find(this.#runId);
    if (index !== undefined) return index.turns;
    return this.#database.guard(
      () =>
        this.#database.query.select({ turns: count() }).from(turnList).where(eq(turnList.runId, this.#runId)).get()!
          .turns,
    );
  }

  /** The turns behind that one, in the order of writing. @param after an id, 0 for all */
  newTurns(after: number): NewTurns {
    const isNew = rowsOfRun(this.#database, this.#runId, after);
    if (isNew === undefined) return { turns: 0, last: undefined, faults: [] };
    const failed = sql<number>`${turnList.error} IS NOT NULL`;
    const { query } = this.#database;
    return this.#database.guard(() => {
      const found = query
        .select({ turns: count(), last: max(turnList.turnId) })
        .from(turnList)
        .where(isNew)
        .get()!;
      const faults = query
        .select({ failed, checks: turnList.failedChecks, turns: count() })
        .from(turnList)
        .where(and(isNew, or(isNotNull(turnList.error), isNotNull(turnList.failedChecks))))
        .groupBy(failed, turnList.failedChecks)
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
    const ofRun = rowsOfRun(this.#database, this.#runId);
    if (ofRun === undefined) return [];
    const { turnId, itemId, arm, repeat, turn, failedChecks } = turnList;
    return this.#database.guard(() =>
      this.#database.query
        .select({
          ...{ itemId, arm, repeat, turn, failedChecks },
          error: sql<string | null>`substr(${turnList.error}, 1, ${shownCharacters})`,
        })
        .from(turnList)
        .where(and(ofRun, or(isNotNull(turnList.error), isNotNull(failedChecks))))
        .orderBy(desc(turnId))
        .limit(most)
        .all(),
    );
  }

  /** All turns of a user. */
  valuesOf(userId: string): TurnValue[] {
    const { query } = this.#database;
    const ids = query
      .select({ id: turns.id })
      .from(turns)
      .where(and(eq(turns.runId, this.#runId), eq(turns.userId, userId)));
    return this.#database.guard(() =>
      query
        .select({
          ...{ userId: turnList.userId, itemId: turnList.itemId, arm: turnList.arm, value: turnList.primaryValue },
          error: sql<number>`${turnList.error} IS NOT NULL`,
        })
        .from(turnList)
        .where(inArray(turnList.turnId, ids))
        .orderBy(asc(turnList.turnId))
        .all()
        .map(({ error, ...turn }) => ({ ...turn, failed: error === 1 })),
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
