import { and, asc, eq, gt, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { Repository } from './database.ts';
import { turnColumns, turns, type TurnRow } from './schema.ts';

/** Turns of a run; a field that is not set filters nothing. */
export interface TurnListFilter {
  readonly arm?: string | undefined;
  readonly answer?: 'right' | 'wrong' | undefined;
  readonly wrong?: string | undefined;
  /** An arm: only turns of items that it answers right in every repeat. */
  readonly right?: string | undefined;
  /** Only turns of items that one turn answers right and another wrong. */
  readonly disagreeing?: true | undefined;
  readonly category?: string | undefined;
  readonly wrongClass?: string | undefined;
  readonly stage?: string | undefined;
  readonly cache?: string | undefined;
  readonly check?: string | undefined;
  readonly truncated?: true | undefined;
  readonly failed?: true | undefined;
  /** Part of the question, the gold or the answer; ASCII letters match in either case. */
  readonly text?: string | undefined;
}

const scores = [
  'exactMatch',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'abstention',
  'goldLogProbability',
  'freeLogProbability',
] as const;

/** Columns of a turn in the outcomes of a report, in order; docs/results.md explains each. */
export const outcomeColumns = [
  'arm',
  'repeat',
  'turn',
  'cache',
  'taskSuccess',
  'primaryValue',
  ...scores,
  'evidenceRank',
  'wrongClass',
  'failedStage',
  'failedChecks',
  'truncated',
  'firstTokenMs',
  'totalMs',
  'promptTokens',
  'kvResidentTokens',
  'evaluatedTokens',
  'generatedTokens',
  'answer',
  'error',
] as const;

export type OutcomeColumn = (typeof outcomeColumns)[number];

/** Columns that judge an answer; null if the quality of the model is unknown. */
export const judgingColumns: readonly OutcomeColumn[] = [
  'taskSuccess',
  'primaryValue',
  ...scores,
  'wrongClass',
  'failedStage',
];

/** The outcome of one turn, as pages of items and arms show it; long texts are cut. */
export type TurnOutcome = Pick<TurnRow, OutcomeColumn | 'itemId' | 'userId' | 'category' | 'question' | 'gold'>;

export interface TurnListRow extends TurnOutcome {
  readonly turnId: number;
}

const cutText = (text: SQLiteColumn | SQL): SQL => sql`substr(${text}, 1, 300)`;

const outcomeFields = {
  ...turnColumns(...outcomeColumns, 'itemId', 'userId', 'category'),
  question: cutText(turns.question),
  gold: cutText(turns.gold),
  answer: cutText(turns.answer),
  error: cutText(turns.error),
};

const listFields = { ...outcomeFields, turnId: turns.id };

const rowsAtOnce = 500;

export class TurnListRepository extends Repository {
  /** All turns of a run in the order of writing, read in pages. */
  *rows(runId: string): Generator<TurnListRow, void, undefined> {
    for (let last = 0; ;) {
      const where = and(eq(turns.runId, runId), gt(turns.id, last));
      const page = this.database.guard((query) =>
        query.select(listFields).from(turns).where(where).orderBy(asc(turns.id)).limit(rowsAtOnce).all(),
      ) as unknown as TurnListRow[];
      yield* page;
      if (page.length < rowsAtOnce) return;
      last = page.at(-1)!.turnId;
    }
  }

  /** Ids of the items with a matching turn, in the order of writing. */
  items(runId: string, filter: TurnListFilter = {}): string[] {
    const rows = this.query<{ readonly itemId: string }>(
      sql`SELECT item_id AS itemId FROM turns INDEXED BY ${fastestIndex(filter)}
        WHERE ${and(eq(turns.runId, runId), matches(runId, filter))} GROUP BY item_id ORDER BY min(id)`,
    );
    return rows.map(({ itemId }) => itemId);
  }

  /** The outcomes of all arms on these items, in the order of writing. */
  outcomes(runId: string, itemIds: readonly string[]): TurnOutcome[] {
    const where = and(eq(turns.runId, runId), inArray(turns.itemId, [...itemIds]));
    // `+` keeps SQLite from using an index in this order, for which it would read the whole run.
    const order = sql`+${turns.id}`;
    return this.database.guard((query) =>
      query.select(outcomeFields).from(turns).where(where).orderBy(order).all(),
    ) as unknown as TurnOutcome[];
  }

  failedChecks(runId: string): ReadonlyMap<string, number> {
    const rows = this.query<{ readonly checks: string; readonly turns: number }>(
      sql`SELECT failed_checks AS checks, count(*) AS turns FROM turns
        WHERE run_id = ${runId} AND checks IS NOT NULL GROUP BY checks`,
    );
    const found = new Map<string, number>();
    for (const { checks, turns } of rows) {
      for (const check of checks.split(',')) found.set(check, (found.get(check) ?? 0) + turns);
    }
    return found;
  }

  /** The distinct values of an indexed column, by jumping from one to the next, since there are few. */
  distinct(runId: string, name: 'arm' | 'category'): string[] {
    const column = turns[name];
    const next = (after: SQL): SQL =>
      sql`(SELECT min(${column}) FROM turns WHERE run_id = ${runId} AND ${column} > ${after})`;
    const rows = this.query<{ readonly value: string }>(sql`WITH RECURSIVE found(value) AS (
      SELECT ${next(sql`''`)} UNION ALL SELECT ${next(sql`value`)} FROM found WHERE value IS NOT NULL
    ) SELECT value FROM found WHERE value IS NOT NULL`);
    return rows.map(({ value }) => value);
  }
}

/** The index that answers a filter fastest: `turns_list` has all columns but texts, `turns_run` the order of writing. */
function fastestIndex(filter: TurnListFilter): SQL {
  if (filter.text !== undefined) return sql`turns_run`;
  return Object.values(filter).every((value) => value === undefined) ? sql`turns_item` : sql`turns_list`;
}

/** Matches `text` literally, without wildcards. */
function contains(column: SQLiteColumn, text: string): SQL {
  return sql`${column} LIKE ${`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`} ESCAPE ${'\\'}`;
}

/** Items of the run whose turns, or those of one arm, meet a condition on their task success. */
function itemsWhere(runId: string, having: string, arm?: string): SQL {
  return sql`${turns.itemId} IN (
    SELECT judged.item_id FROM turns AS judged WHERE judged.run_id = ${runId}
      ${arm === undefined ? sql`` : sql`AND judged.arm = ${arm}`}
    GROUP BY judged.item_id HAVING ${sql.raw(having)}
  )`;
}

/** The condition for a turn of that run; undefined if all match. */
function matches(runId: string, filter: TurnListFilter): SQL | undefined {
  const { answer, wrong, right, check, text } = filter;
  const success = turns.taskSuccess;
  const is = (column: SQLiteColumn, value: string | undefined) => (value === undefined ? undefined : eq(column, value));
  return and(
    is(turns.arm, filter.arm),
    answer === undefined ? undefined : answer === 'right' ? eq(success, 1) : lt(success, 1),
    wrong === undefined ? undefined : itemsWhere(runId, 'avg(judged.task_success) < 1', wrong),
    right === undefined ? undefined : itemsWhere(runId, 'avg(judged.task_success) = 1', right),
    filter.disagreeing && itemsWhere(runId, 'min(judged.task_success) < max(judged.task_success)'),
    is(turns.category, filter.category),
    is(turns.wrongClass, filter.wrongClass),
    is(turns.failedStage, filter.stage),
    is(turns.cache, filter.cache),
    check === undefined ? undefined : sql`instr(',' || ${turns.failedChecks} || ',', ${`,${check},`}) > 0`,
    filter.truncated && eq(turns.truncated, true),
    filter.failed && eq(turns.state, 'failed'),
    text === undefined
      ? undefined
      : or(contains(turns.question, text), contains(turns.gold, text), contains(turns.answer, text)),
  );
}
