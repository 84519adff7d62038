import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { auditLogs, conversations, memories, sessions, userPreferences } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';
import { runUsers, tokenPieces, turns } from './schema.ts';
import { TokenPieceRepository } from './token-piece-repository.ts';

/** A user of a run in one database, and the run of another database that gets what stands there of them. */
export interface UserToCopy {
  readonly from: string;
  readonly to: string;
  readonly userId: string;
  /** Place among the users of the plan. */
  readonly position: number;
}

/** Copies all that a run holds of a user, in the order of writing: turns, sessions with memories and messages, audit entries. */
export function copyUser(
  source: BenchDatabase,
  target: BenchDatabase,
  { from, to, userId, position }: UserToCopy,
): void {
  // Ids of sessions begin with that of their run.
  const moved = (sessionId: string): string => `${to}${sessionId.slice(from.length)}`;
  const read = source.query;
  const ofUser = read
    .select()
    .from(sessions)
    .where(and(eq(sessions.runId, from), eq(sessions.userId, userId)))
    .orderBy(sql`${sessions}.rowid`)
    .all();
  const ids = ofUser.map(({ id }) => id);
  target.transaction(() => {
    const { query } = target;
    for (const row of ofUser)
      query
        .insert(sessions)
        .values({ ...row, id: moved(row.id), runId: to })
        .run();
    for (const table of [memories, userPreferences, conversations, auditLogs] as const) {
      const rows = read
        .select()
        .from(table)
        .where(inArray(table.sessionId, ids))
        .orderBy(sql`${table}.rowid`)
        .all();
      for (const row of rows)
        query
          .insert(table)
          .values({ ...row, sessionId: moved(row.sessionId!) } as never)
          .run();
    }
    const ownTurns = read
      .select()
      .from(turns)
      .where(and(eq(turns.runId, from), eq(turns.userId, userId)))
      .orderBy(asc(turns.id))
      .all();
    for (const { id: _, ...row } of ownTurns) {
      query
        .insert(turns)
        .values({ ...row, runId: to, sessionId: moved(row.sessionId) })
        .run();
    }
    const finished = { runId: to, userId, position, worker: from, finishedAt: Date.now(), share: null };
    query.insert(runUsers).values(finished).run();
  });
}

/** Copies the texts of a model's tokens. */
export function copyTokenPieces(source: BenchDatabase, target: BenchDatabase, modelSha256: string): void {
  const rows = source.query.select().from(tokenPieces).where(eq(tokenPieces.modelSha256, modelSha256)).all();
  new TokenPieceRepository(target).add(modelSha256, new Map(rows.map(({ tokenId, piece }) => [tokenId, piece])));
}
