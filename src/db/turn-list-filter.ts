import { and, eq, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { turnList } from './schema.ts';

/** Turns of a run; a field that is not set filters nothing. */
export interface TurnListFilter {
  readonly arm?: string | undefined;
  readonly answer?: 'right' | 'wrong' | undefined;
  readonly disagreeing?: true | undefined;
  readonly category?: string | undefined;
  readonly truncated?: true | undefined;
  readonly failed?: true | undefined;
  /** A part of the question or the answer; ASCII letters match in either case. */
  readonly text?: string | undefined;
}

/** The text itself, in which nothing stands for something else. */
function contains(column: SQLiteColumn, text: string): SQL {
  return sql`${column} LIKE ${`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`} ESCAPE ${'\\'}`;
}

/** The condition that a turn must meet; undefined where all pass. */
export function matches({
  arm,
  answer,
  disagreeing,
  category,
  truncated,
  failed,
  text,
}: TurnListFilter): SQL | undefined {
  return and(
    // A walk over the run answers all filters alike; an index would be followed by a look-up for each row.
    arm === undefined ? undefined : sql`+${turnList.arm} = ${arm}`,
    answer === undefined ? undefined : answer === 'right' ? eq(turnList.taskSuccess, 1) : lt(turnList.taskSuccess, 1),
    disagreeing === undefined ? undefined : eq(turnList.disagreeing, true),
    category === undefined ? undefined : sql`+${turnList.category} = ${category}`,
    truncated === undefined ? undefined : eq(turnList.truncated, true),
    failed === undefined ? undefined : isNotNull(turnList.error),
    text === undefined ? undefined : or(contains(turnList.question, text), contains(turnList.answer, text)),
  );
}
