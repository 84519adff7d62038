import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { ownerInRun } from './memory-repository.ts';
import {
  auditLogs,
  conversations,
  memories,
  runUsers,
  sessions,
  type TurnRow,
  turns,
  userPreferences,
} from './schema.ts';

/** Tables whose rows belong to a session; each after those that it refers to. */
const sessionTables = { memories, userPreferences, conversations, auditLogs };

type SessionRows = {
  readonly [Name in keyof typeof sessionTables]: readonly (typeof sessionTables)[Name]['$inferSelect'][];
};

/**
 * All rows of a user in a run, in the order of writing. Session ids lack the id of the run, with which they begin in the
 * database, and owners are only the user's id, so that the rows can be written into any run.
 */
export interface UserRows extends SessionRows {
  readonly sessions: readonly { readonly id: string; readonly createdAt: number }[];
  readonly turns: readonly Omit<TurnRow, 'id' | 'runId'>[];
}

interface UserOfRun {
  readonly runId: string;
  readonly userId: string;
}

const written = sql`rowid`;

export function readUserRows(source: BenchDatabase, { runId, userId }: UserOfRun): UserRows {
  const isOfUser = and(eq(sessions.runId, runId), eq(sessions.userId, userId));
  const isTurnOfUser = and(eq(turns.runId, runId), eq(turns.userId, userId));
  const withoutRun = (sessionId: string | null): string => sessionId!.slice(runId.length);
  return source.guard((query) => {
    const userSessions = query.select().from(sessions).where(isOfUser).orderBy(written).all();
    const ids = userSessions.map(({ id }) => id);
    const rows = Object.entries(sessionTables).map(([name, table]) => {
      const found = query.select().from(table).where(inArray(table.sessionId, ids)).orderBy(written).all();
      const owner = 'owner' in table ? { owner: userId } : {};
      return [name, found.map((row) => ({ ...row, ...owner, sessionId: withoutRun(row.sessionId) }))] as const;
    });
    const userTurns = query.select().from(turns).where(isTurnOfUser).orderBy(asc(turns.id)).all();
    return {
      sessions: userSessions.map(({ id, createdAt }) => ({ id: withoutRun(id), createdAt })),
      ...(Object.fromEntries(rows) as unknown as SessionRows),
      turns: userTurns.map(({ id: _, runId: __, ...row }) => ({ ...row, sessionId: withoutRun(row.sessionId) })),
    };
  });
}

/** A user to be written into a run as finished. */
interface FinishedUser extends UserOfRun {
  readonly position: number;
  readonly worker: string;
}

export function writeUserRows(target: BenchDatabase, user: FinishedUser, rows: UserRows): void {
  const { runId, userId } = user;
  target.transaction((query) => {
    for (const { id, createdAt } of rows.sessions) {
      const row = { id: `${runId}${id}`, userId, runId, createdAt };
      query.insert(sessions).values(row).run();
    }
    for (const [name, table] of Object.entries(sessionTables)) {
      const owner = 'owner' in table ? { owner: ownerInRun(runId, userId) } : {};
      for (const row of rows[name as keyof typeof sessionTables]) {
        const moved = { ...row, ...owner, sessionId: `${runId}${row.sessionId}` } as never;
        query.insert(table).values(moved).run();
      }
    }
    for (const row of rows.turns) {
      const moved = { ...row, runId, sessionId: `${runId}${row.sessionId}` };
      query.insert(turns).values(moved).run();
    }
    const finished = { ...user, finishedAt: Date.now(), share: null };
    query.insert(runUsers).values(finished).run();
  });
}
