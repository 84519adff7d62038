import { randomUUID } from 'node:crypto';
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { Repository } from './database.ts';
import type { TokenCounts } from './records/turn-record.ts';
import { auditLogs, type ConversationRow, conversations, sessions } from './schema.ts';

type AnswerFields = 'injectionMode' | 'injectionAlpha' | 'memoryIds' | 'latencyMs';

interface NewMessage extends Pick<typeof conversations.$inferInsert, 'sessionId' | 'role' | 'content' | AnswerFields> {
  readonly tokens?: TokenCounts;
}

export class ConversationRepository extends Repository {
  create({ tokens, ...message }: NewMessage): string {
    const id = randomUUID();
    const row = {
      ...message,
      id,
      promptTokens: tokens?.prompt,
      kvResidentTokens: tokens?.kvResident,
      // NaN, from an engine that does not count them, becomes NULL in SQLite.
      evaluatedTokens: tokens?.evaluated,
      generatedTokens: tokens?.generated,
      positions: tokens?.positions,
      createdAt: Date.now(),
    };
    this.database.guard((query) => query.insert(conversations).values(row).run());
    return id;
  }

  /** All messages in a user's sessions of a run, or of no run, in the order of writing. */
  getByUser(userId: string, runId: string | undefined): ConversationRow[] {
    const isOfRun = runId === undefined ? isNull(sessions.runId) : eq(sessions.runId, runId);
    const owned = this.database.query
      .select({ id: sessions.id })
      .from(sessions)
      .where(and(eq(sessions.userId, userId), isOfRun));
    return this.select(conversations, inArray(conversations.sessionId, owned));
  }

  /** Deletes messages; missing ids are no error. */
  delete(ids: readonly string[]): void {
    this.database.transaction((query) => {
      for (const id of ids) query.delete(conversations).where(eq(conversations.id, id)).run();
    });
  }

  /** The newest messages of a session, at most `maxMessages`, in the order of writing. */
  getRecent(sessionId: string, maxMessages = Number.MAX_SAFE_INTEGER): ConversationRow[] {
    // A negative limit would mean "all" to SQLite.
    if (maxMessages <= 0) return [];
    const where = eq(conversations.sessionId, sessionId);
    // By order of writing: two messages of one turn often share a millisecond, and clocks step back.
    const order = sql`rowid DESC`;
    return this.database
      .guard((query) => query.select().from(conversations).where(where).orderBy(order).limit(maxMessages).all())
      .reverse();
  }
}

export class AuditLogRepository extends Repository {
  log(entry: Omit<typeof auditLogs.$inferInsert, 'id' | 'createdAt'>): string {
    const id = randomUUID();
    const row = { ...entry, id, createdAt: Date.now() };
    this.database.guard((query) => query.insert(auditLogs).values(row).run());
    return id;
  }

  getBySession(sessionId: string) {
    return this.select(auditLogs, eq(auditLogs.sessionId, sessionId));
  }
}
