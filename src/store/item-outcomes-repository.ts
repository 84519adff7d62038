import { and, count, eq, inArray, isNotNull, min, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { knownAnswers } from './known-answers.ts';
import { rowsOfRun } from './rows-of-run.ts';
import { turnList, type TurnListRow } from './schema.ts';
import type { ItemIds } from './turn-index/turn-index.ts';
import { TurnIndexRepository } from './turn-index/turn-index-repository.ts';
import { asksOnlyOfItems, matches, type TurnListFilter } from './turn-list-filter.ts';

/** Characters of a text that a matrix shows. */
const shownCharacters = 300;

const cut = sql.raw(`1, ${shownCharacters}`);

const outcomeColumns = {
  itemId: turnList.itemId,
  arm: turnList.arm,
  repeat: turnList.repeat,
  turn: turnList.turn,
  taskSuccess: turnList.taskSuccess,
  abstention: turnList.abstention,
  wrongClass: turnList.wrongClass,
  failedStage: turnList.failedStage,
  failedChecks: turnList.failedChecks,
  cache: turnList.cache,
  category: turnList.category,
  promptTokens: turnList.promptTokens,
  kvResidentTokens: turnList.kvResidentTokens,
  evaluatedTokens: turnList.evaluatedTokens,
  generatedTokens: turnList.generatedTokens,
  firstTokenMs: turnList.firstTokenMs,
  totalMs: turnList.totalMs,
  userId: turnList.userId,
  question: sql<string | null>`substr(${turnList.question}, ${cut})`,
  gold: sql<string | null>`substr(${turnList.gold}, ${cut})`,
  answer: sql<string>`substr(${turnList.answer}, ${cut})`,
  error: sql<string | null>`substr(${turnList.error}, ${cut})`,
};

/** The outcome of one turn, as pages of items and arms show it; long texts are cut. */
export type TurnOutcome = Pick<TurnListRow, keyof typeof outcomeColumns>;

/** Items of runs with the outcomes of all their arms, a page at a time. */
export class ItemOutcomesRepository {
  readonly #database: BenchDatabase;
  readonly #indexes: TurnIndexRepository;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#indexes = new TurnIndexRepository(database);
  }

  /** Ids of the items of which a turn matches, in the order of writing. */
  items(runId: string, filter: TurnListFilter): ItemIds {
    const index = this.#indexes.find(runId);
    if (index !== undefined) return index.items(filter);
    const name = JSON.stringify(['outcomes', runId, filter]);
    const bytes = (items: readonly string[]) => items.reduce((sum, id) => sum + 2 * id.length + 16, 0);
    return knownAnswers(this.#database).of(name, () => this.#items(runId, filter), bytes);
  }

  #items(runId: string, filter: TurnListFilter): string[] {
    // The index on items has all that such a filter asks for.
    const inIndex = asksOnlyOfItems(filter);
    const ofRun = inIndex ? eq(turnList.runId, runId) : rowsOfRun(this.#database, runId);
    if (ofRun === undefined) return [];
    const first = min(turnList.turnId);
    return this.#database.guard(() =>
      this.#database.query
        .select({ itemId: turnList.itemId, first })
        .from(turnList)
        .where(and(ofRun, matches(runId, filter)))
        .groupBy(inIndex ? turnList.itemId : sql`+${turnList.itemId}`)
        .orderBy(first)
        .all()
        .map(({ itemId }) => itemId),
    );
  }

  /** The outcomes of all arms on these items, in the order of writing. */
  outcomes(runId: string, itemIds: readonly string[]): TurnOutcome[] {
    return this.#database.guard(() =>
      this.#database.query
        .select(outcomeColumns)
        .from(turnList)
        .where(and(eq(turnList.runId, runId), inArray(turnList.itemId, [...itemIds])))
        // An index that gives this order would lead through the whole run, hence the `+`.
        .orderBy(sql`+${turnList.turnId}`)
        .all(),
    );
  }

  /** Turns of a run that fail each check by themselves, by name of the check. */
  failedChecks(runId: string): ReadonlyMap<string, number> {
    const index = this.#indexes.find(runId);
    if (index !== undefined) return index.failedChecks();
    return knownAnswers(this.#database).of(JSON.stringify(['failed checks', runId]), () => {
      const ofRun = rowsOfRun(this.#database, runId);
      if (ofRun === undefined) return new Map();
      const rows = this.#database.guard(() =>
        this.#database.query
          .select({ checks: turnList.failedChecks, turns: count() })
          .from(turnList)
          .where(and(ofRun, isNotNull(turnList.failedChecks)))
          .groupBy(turnList.failedChecks)
          .all(),
      );
      const found = new Map<string, number>();
      for (const { checks, turns } of rows) {
        for (const check of checks!.split(',')) found.set(check, (found.get(check) ?? 0) + turns);
      }
      return found;
    });
  }
}
