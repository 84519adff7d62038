import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import {
  type AuditLogRow,
  auditLogs,
  type ConversationRow,
  conversations,
  memories,
  type MemoryRow,
  type SessionRow,
  sessions,
  type UserPreferenceRow,
  userPreferences,
} from './schema.ts';
import type { BenchDatabase } from './database.ts';
import { runUsers, type TurnRow, turns } from './schema.ts';

/**
 * All that a run holds of a user, in the order of writing. Ids of sessions are without that of the run, with which they begin:
 * the rows can be those of any run.
 */
export interface UserRows {
  readonly sessions: readonly Pick<SessionRow, 'id' | 'createdAt'>[];
  readonly memories: readonly MemoryRow[];
  readonly userPreferences: readonly UserPreferenceRow[];
  readonly conversations: readonly ConversationRow[];
  readonly auditLogs: readonly AuditLogRow[];
  readonly turns: readonly Omit<TurnRow, 'id' | 'runId'>[];
}

/** A user of a run. */
export interface UserOfRun {
  readonly runId: string;
  readonly userId: string;
}

/** Tables whose rows belong to a session; each after those that it refers to. */
const tablesOfSessions = { memories, userPreferences, conversations, auditLogs };

/** Reads all that a run holds of a user. */
export function readUserRows({ query }: BenchDatabase, { runId, userId }: UserOfRun): UserRows {
  const ofUser = query
    .select({ id: sessions.id, createdAt: sessions.createdAt })
    .from(sessions)
    .where(and(eq(sessions.runId, runId), eq(sessions.userId, userId)))
    .orderBy(sql`${sessions}.rowid`)
    .all();
  const ids = ofUser.map(({ id }) => id);
  const within = (sessionId: string | null): string => sessionId!.slice(runId.length);
  const ofSessions = Object.entries(tablesOfSessions).map(([name, table]) => {
    const rows = query
      .select()
      .from(table)
      .where(inArray(table.sessionId, ids))
      .orderBy(sql`${table}.rowid`)
      .all();
    return [name, rows.map((row) => ({ ...row, sessionId: within(row.sessionId) }))] as const;
  });
  const ownTurns = query
    .select()
    .from(turns)
    .where(and(eq(turns.runId, runId), eq(turns.userId, userId)))
    .orderBy(asc(turns.id))
    .all();
  return {
    sessions: ofUser.map(({ id, createdAt }) => ({ id: within(id), createdAt })),
    ...(Object.fromEntries(ofSessions) as unknown as Pick<UserRows, keyof typeof tablesOfSessions>),
    turns: ownTurns.map(({ id: _, runId: __, sessionId, ...row }) => ({ ...row, sessionId: within(sessionId) })),
  };
}

/** A user whose rows are written into a run, finished. */
export interface FinishedUser extends UserOfRun {
  /** Place among the users of the plan. */
  readonly position: number;
  /** The worker who asked them. */
  readonly worker: string;
}

/** Writes all that a run shall hold of a user, who is finished then. */
export function writeUserRows(
  target: BenchDatabase,
  { runId, userId, position, worker }: FinishedUser,
  rows: UserRows,
): void {
  target.transaction(() => {
    const { query } = target;
    for (const { id, createdAt } of rows.sessions) {
      query
        .insert(sessions)
        .values({ id: `${runId}${id}`, userId, runId, createdAt })
        .run();
    }
    for (const [name, table] of Object.entries(tablesOfSessions)) {
      for (const row of rows[name as keyof typeof tablesOfSessions]) {
        query
          .insert(table)
          .values({ ...row, sessionId: `${runId}${row.sessionId}` } as never)
          .run();
      }
    }
    for (const row of rows.turns) {
      query
        .insert(turns)
        .values({ ...row, runId, sessionId: `${runId}${row.sessionId}` })
        .run();
    }
    query.insert(runUsers).values({ runId, userId, position, worker, finishedAt: Date.now(), share: null }).run();
  });
}
