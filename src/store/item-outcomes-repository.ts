import { and, count, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { turns, type TurnRow } from './schema.ts';
import { cutText, fastestIndex, matches, type TurnListFilter } from './turn-list-repository.ts';

const outcomeColumns = {
  itemId: turns.itemId,
  arm: turns.arm,
  repeat: turns.repeat,
  turn: turns.turn,
  taskSuccess: turns.taskSuccess,
  abstention: turns.abstention,
  wrongClass: turns.wrongClass,
  failedStage: turns.failedStage,
  failedChecks: turns.failedChecks,
  cache: turns.cache,
  category: turns.category,
  promptTokens: turns.promptTokens,
  kvResidentTokens: turns.kvResidentTokens,
  evaluatedTokens: turns.evaluatedTokens,
  generatedTokens: turns.generatedTokens,
  firstTokenMs: turns.firstTokenMs,
  totalMs: turns.totalMs,
  userId: turns.userId,
  question: cutText(turns.question),
  gold: cutText(turns.gold),
  answer: cutText<string>(turns.answer),
  error: cutText(turns.error),
};

/** The outcome of one turn, as pages of items and arms show it; long texts are cut. */
export type TurnOutcome = Pick<TurnRow, keyof typeof outcomeColumns>;

/** The items of runs with the outcomes of all their arms. */
export class ItemOutcomesRepository {
  readonly #database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /** Ids of the items with a turn that matches, in the order of writing. */
  items(runId: string, filter: TurnListFilter): string[] {
    return this.#database.guard(() =>
      this.#database.query
        .all<{ readonly itemId: string }>(
          sql`SELECT item_id AS itemId FROM turns INDEXED BY ${fastestIndex(filter, 'turns_item')}
          WHERE ${and(eq(turns.runId, runId), matches(runId, filter))} GROUP BY item_id ORDER BY min(id)`,
        )
        .map(({ itemId }) => itemId),
    );
  }

  /** The outcomes of all arms on these items, in the order of writing. */
  outcomes(runId: string, itemIds: readonly string[]): TurnOutcome[] {
    return this.#database.guard(() =>
      this.#database.query
        .select(outcomeColumns)
        .from(turns)
        .where(and(eq(turns.runId, runId), inArray(turns.itemId, [...itemIds])))
        // An index that gives this order would lead through the whole run, hence the `+`.
        .orderBy(sql`+${turns.id}`)
        .all(),
    );
  }

  /** Turns of a run that fail each check by themselves, by name of the check. */
  failedChecks(runId: string): ReadonlyMap<string, number> {
    const rows = this.#database.guard(() =>
      this.#database.query
        .select({ checks: turns.failedChecks, turns: count() })
        .from(turns)
        .where(and(eq(turns.runId, runId), isNotNull(turns.failedChecks)))
        .groupBy(turns.failedChecks)
        .all(),
    );
    const found = new Map<string, number>();
    for (const { checks, turns: failing } of rows) {
      for (const check of checks!.split(',')) found.set(check, (found.get(check) ?? 0) + failing);
    }
    return found;
  }
}
