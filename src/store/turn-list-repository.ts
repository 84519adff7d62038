import { and, asc, count, eq, getTableColumns, gt, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { BenchDatabase } from './database.ts';
import { type KnownAnswers, knownAnswers } from './known-answers.ts';
import { rowsOfRun } from './rows-of-run.ts';
import { turnList, type TurnListRow } from './schema.ts';
import { matches, type TurnListFilter } from './turn-list-filter.ts';
import { TurnIndexRepository } from './turn-index/turn-index-repository.ts';
import { SortedSides, type TurnListOrder, type TurnListPlace } from './turn-list-order.ts';

export interface TurnListPage {
  /** Long texts are cut. */
  readonly rows: readonly TurnListRow[];
  /** Turns that match lie ahead of the page, and behind it. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /**
   * All turns that match. Of a run without an index: `many` where they are more than `mostCounted`, undefined where only a search of all texts
   * could tell.
   */
  readonly matching: number | 'many' | undefined;
}

/** Turns that pass a filter are counted so far: the count costs a walk over all of them. */
export const mostCounted = 10_000;

/** Rows of one query. */
const readAtOnce = 500;

/** Characters of a text that a list shows. */
const shownCharacters = 300;

const cut = <Text>(column: SQLiteColumn) => sql<Text>`substr(${column}, 1, ${shownCharacters})`;

const shownColumns = {
  ...getTableColumns(turnList),
  // A failed turn keeps no question; the others of its item do.
  question: sql<string | null>`substr(coalesce(question, (
    SELECT sibling.question FROM turn_list AS sibling
    WHERE sibling.run_id = turn_list.run_id AND sibling.item_id = turn_list.item_id AND sibling.question IS NOT NULL LIMIT 1
  )), 1, ${shownCharacters})`,
  // Nor a gold.
  gold: sql<string | null>`substr(coalesce(gold, (
    SELECT sibling.gold FROM turn_list AS sibling
    WHERE sibling.run_id = turn_list.run_id AND sibling.item_id = turn_list.item_id AND sibling.gold IS NOT NULL LIMIT 1
  )), 1, ${shownCharacters})`,
  answer: cut<string>(turnList.answer),
  error: cut<string | null>(turnList.error),
};

/** The turns of runs as lists show them: a page at a time, whatever the length of the run. */
export class TurnListRepository {
  readonly #database: BenchDatabase;
  readonly #known: KnownAnswers;
  readonly #indexes: TurnIndexRepository;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#indexes = new TurnIndexRepository(database);
    this.#known = knownAnswers(database);
  }

  /**
   * A page of the turns that match, at most `size`. Pages are found by the turn behind or ahead of them, so that the last is
   * as near as the first; a turn that is not of the run is the beginning.
   */
  page(runId: string, filter: TurnListFilter, order: TurnListOrder, place: TurnListPlace, size: number): TurnListPage {
    const index = this.#indexes.find(runId);
    if (index === undefined) return this.#walkedPage(runId, filter, order, place, size);
    const { turnIds, ...page } = index.page(filter, order, place, size);
    return { ...page, rows: this.#rowsOf(turnIds) };
  }

  /** The same, by walking over the rows. */
  #walkedPage(
    runId: string,
    filter: TurnListFilter,
    order: TurnListOrder,
    place: TurnListPlace,
    size: number,
  ): TurnListPage {
    const ofRun = rowsOfRun(this.#database, runId);
    if (ofRun === undefined) return { rows: [], hasPrevious: false, hasNext: false, matching: 0 };
    const matching = and(ofRun, matches(runId, filter));
    const sides = new SortedSides(order);
    const cursor = this.#cursor(runId, place.before ?? place.after);
    const backwards = cursor !== undefined && place.before !== undefined;
    const beyond = cursor === undefined ? undefined : backwards ? sides.ahead(cursor) : sides.behind(cursor);
    const found = this.#database.guard(() =>
      this.#database.query
        .select(shownColumns)
        .from(turnList)
        .where(and(matching, beyond))
        .orderBy(...sides.order(backwards))
        // One more tells whether there is another page.
        .limit(size + 1)
        .all(),
    );
    const rows = found.slice(0, size);
    const goesOn = found.length > size;
    return {
      rows: backwards ? rows.reverse() : rows,
      hasPrevious: backwards ? goesOn : cursor !== undefined,
      hasNext: backwards || goesOn,
      matching: cursor === undefined && !goesOn ? rows.length : this.#matching(runId, filter, matching),
    };
  }

  /** All turns of a run in the order of writing, read in pages; long texts are cut. */
  *rows(runId: string): Generator<TurnListRow, void, undefined> {
    for (let after: number | undefined; ;) {
      const page = this.#walkedPage(runId, {}, {}, { after }, readAtOnce);
      yield* page.rows;
      if (!page.hasNext) return;
      after = page.rows.at(-1)!.turnId;
    }
  }

  /** The arms that have turns, by name. */
  arms(runId: string): string[] {
    return this.#distinct(runId, turnList.arm);
  }

  /** The categories of the items, by name. */
  categories(runId: string): string[] {
    return this.#distinct(runId, turnList.category);
  }

  /** The items, by id. */
  items(runId: string): string[] {
    return this.#database.guard(() =>
      this.#database.query
        .selectDistinct({ itemId: turnList.itemId })
        .from(turnList)
        .where(eq(turnList.runId, runId))
        .orderBy(asc(turnList.itemId))
        .all()
        .map(({ itemId }) => itemId),
    );
  }

  /** Rows in the order of their ids. */
  #rowsOf(turnIds: readonly number[]): TurnListRow[] {
    const rows = this.#database.guard(() =>
      this.#database.query
        .select(shownColumns)
        .from(turnList)
        .where(inArray(turnList.turnId, [...turnIds]))
        .all(),
    );
    const byId = new Map(rows.map((row) => [row.turnId, row]));
    return turnIds.flatMap((id) => byId.get(id) ?? []);
  }

  #cursor(runId: string, turnId: number | undefined): TurnListRow | undefined {
    if (turnId === undefined) return undefined;
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(turnList)
        .where(and(eq(turnList.turnId, turnId), eq(turnList.runId, runId)))
        .get(),
    );
  }

  #matching(runId: string, filter: TurnListFilter, matching: SQL | undefined): TurnListPage['matching'] {
    if (filter.text !== undefined) return undefined;
    return this.#known.of(JSON.stringify([runId, filter]), () => {
      if (matches(runId, filter) === undefined) return this.#count(eq(turnList.runId, runId));
      const counted = this.#count(matching, mostCounted + 1);
      return counted > mostCounted ? 'many' : counted;
    });
  }

  /** @param most where it ends */
  #count(matching: SQL | undefined, most = Number.MAX_SAFE_INTEGER): number {
    const { query } = this.#database;
    return this.#database.guard(() => {
      const found = query.select({ id: turnList.turnId }).from(turnList).where(matching).limit(most).as('found');
      return query.select({ turns: count() }).from(found).get()?.turns ?? 0;
    });
  }

  /** The values of an indexed column, each found behind the one ahead of it: there are few, of many rows. */
  #distinct(runId: string, column: typeof turnList.arm | typeof turnList.category): string[] {
    const values: string[] = [];
    for (;;) {
      const next = this.#database.guard(() =>
        this.#database.query
          .select({ value: column })
          .from(turnList)
          .where(and(eq(turnList.runId, runId), gt(column, values.at(-1) ?? '')))
          .orderBy(asc(column))
          .limit(1)
          .get(),
      );
      if (next?.value === null || next?.value === undefined) return values;
      values.push(next.value);
    }
  }
}
