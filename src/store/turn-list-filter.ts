import { and, eq, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { turnList } from './schema.ts';

/** Turns of a run; a field that is not set filters nothing. */
export interface TurnListFilter {
  readonly arm?: string | undefined;
  readonly answer?: 'right' | 'wrong' | undefined;
  /** Turns of items that the arm `wrong` answers wrong. */
  readonly wrong?: string | undefined;
  /** Turns of items that the arm `right` answers right, in every repeat. */
  readonly right?: string | undefined;
  readonly disagreeing?: true | undefined;
  readonly category?: string | undefined;
  /** The class of a wrong answer. */
  readonly wrongClass?: string | undefined;
  /** The stage of the evidence funnel that failed. */
  readonly stage?: string | undefined;
  readonly cache?: string | undefined;
  /** A check of the run that the turn fails. */
  readonly check?: string | undefined;
  readonly truncated?: true | undefined;
  readonly failed?: true | undefined;
  /** A part of the question, the gold or the answer; ASCII letters match in either case. */
  readonly text?: string | undefined;
}

/** The text itself, in which nothing stands for something else. */
function contains(column: SQLiteColumn, text: string): SQL {
  return sql`${column} LIKE ${`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`} ESCAPE ${'\\'}`;
}

/** Walks over the run answer all filters alike; an index would be followed by a look-up for each row, hence the `+`. */
const is = (column: SQLiteColumn, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : sql`+${column} = ${value}`;

/** Items of the run that an arm answers right in every repeat, or not: from the index on run, arm and item. */
function ofItems(runId: string, arm: string | undefined, outcome: 'right' | 'wrong'): SQL | undefined {
  if (arm === undefined) return undefined;
  const share = sql.raw(outcome === 'right' ? '= 1' : '< 1');
  return sql`${turnList.itemId} IN (
    SELECT judged.item_id FROM turn_list AS judged WHERE judged.run_id = ${runId} AND judged.arm = ${arm}
    GROUP BY judged.item_id HAVING avg(judged.task_success) ${share}
  )`;
}

/** True for a filter that all turns of an item pass, or none. */
export function asksOnlyOfItems(filter: TurnListFilter): boolean {
  const { wrong, right, ...ofTurns } = filter;
  return Object.values(ofTurns).every((value) => value === undefined);
}

/** The condition that a turn of that run must meet; undefined where all pass. */
export function matches(runId: string, filter: TurnListFilter): SQL | undefined {
  const { arm, answer, wrong, right, disagreeing, category, wrongClass, stage, cache, check, truncated, failed, text } =
    filter;
  return and(
    is(turnList.arm, arm),
    answer === undefined ? undefined : answer === 'right' ? eq(turnList.taskSuccess, 1) : lt(turnList.taskSuccess, 1),
    ofItems(runId, wrong, 'wrong'),
    ofItems(runId, right, 'right'),
    disagreeing === undefined ? undefined : eq(turnList.disagreeing, true),
    is(turnList.category, category),
    is(turnList.wrongClass, wrongClass),
    is(turnList.failedStage, stage),
    is(turnList.cache, cache),
    check === undefined ? undefined : sql`instr(',' || ${turnList.failedChecks} || ',', ${`,${check},`}) > 0`,
    truncated === undefined ? undefined : eq(turnList.truncated, true),
    failed === undefined ? undefined : isNotNull(turnList.error),
    text === undefined
      ? undefined
      : or(contains(turnList.question, text), contains(turnList.gold, text), contains(turnList.answer, text)),
  );
}
