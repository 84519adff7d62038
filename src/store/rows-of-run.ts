import { and, asc, between, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { turnList } from './schema.ts';

/**
 * The condition for rows of lists of a run, which lie together, as they were written: one walk over them is faster than an
 * index, hence the `+`. Undefined where the run has none.
 * @param after only those behind the turn of that id
 */
export function rowsOfRun(database: BenchDatabase, runId: string, after = 0): SQL | undefined {
  // Two queries: SQLite takes one end of an index at a time.
  const end = (way: typeof asc): number | undefined =>
    database.guard(() =>
      database.query
        .select({ id: turnList.turnId })
        .from(turnList)
        .where(eq(turnList.runId, runId))
        .orderBy(way(turnList.turnId))
        .limit(1)
        .get(),
    )?.id;
  const [first, last] = [end(asc), end(desc)];
  if (first === undefined || last === undefined) return undefined;
  return and(between(turnList.turnId, Math.max(first, after + 1), last), sql`+${turnList.runId} = ${runId}`);
}
