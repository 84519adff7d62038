import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { BenchError, formatValue } from '../base/bench-error.ts';
import { Repository, beginsWith } from './database.ts';
import { type ConversationRow, type SessionRow, auditLogs, conversations, sessions } from './schema.ts';
import { randomUUID } from 'node:crypto';
import { type TokenCounts } from './records/turn-record.ts';

interface SessionOwner {
  readonly userId?: string | null | undefined;
  /** The run of the session, which is deleted with the run or the run's user. */
  readonly runId?: string | null | undefined;
}

export class SessionRepository extends Repository {
  /** Finds or creates a session; one without a user becomes the caller's. @throws BenchError `no-session` for another user's */
  getOrCreate(id: string, { userId = null, runId = null }: SessionOwner = {}): SessionRow {
    return this.database.guard((query) => {
      let session = this.#find(id);
      if (session === undefined) {
        query.insert(sessions).values({ id, userId, runId, createdAt: Date.now() }).onConflictDoNothing().run();
        session = this.#find(id)!;
      }
      requireOwner(session, userId);
      if (session.userId === userId) return session;
      query.update(sessions).set({ userId }).where(eq(sessions.id, id)).run();
      return { ...session, userId };
    });
  }

  /** @throws BenchError `no-session` if a session of that id belongs to another user */
  requireOwned(id: string, userId: string | undefined): void {
    const session = this.#find(id);
    if (session !== undefined) requireOwner(session, userId ?? null);
  }

  #find(id: string): SessionRow | undefined {
    return this.select(sessions, eq(sessions.id, id))[0];
  }

  /** Deletes the sessions with ids that begin with `prefix`, and their messages and memories. */
  deleteBeginningWith(prefix: string): void {
    this.database.guard((query) => query.delete(sessions).where(beginsWith(sessions.id, prefix)).run());
  }
}

/** A user's session is closed to other users, and to callers who name no user. */
function requireOwner({ id, userId: owner }: SessionRow, userId: string | null): void {
  if (owner === null || owner === userId) return;
  const other = userId === null ? 'another user' : `another user than ${formatValue(userId)}`;
  const message = `session ${formatValue(id)} belongs to ${other}`;
  throw new BenchError('no-session', message, 'name the user of the session, or another session');
}

type AnswerFields = 'injectionMode' | 'injectionAlpha' | 'memoryIds' | 'latencyMs';

interface NewMessage extends Pick<typeof conversations.$inferInsert, 'sessionId' | 'role' | 'content' | AnswerFields> {
  readonly tokens?: TokenCounts;
}

export class ConversationRepository extends Repository {
  create({ tokens, ...message }: NewMessage): void {
    const row = {
      ...message,
      id: randomUUID(),
      promptTokens: tokens?.prompt,
      kvResidentTokens: tokens?.kvResident,
      // NaN, from an engine that does not count them, becomes NULL in SQLite.
      evaluatedTokens: tokens?.evaluated,
      generatedTokens: tokens?.generated,
      positions: tokens?.positions,
      createdAt: Date.now(),
    };
    this.database.guard((query) => query.insert(conversations).values(row).run());
  }

  /** All messages in the sessions of a user, or of no user, in a run or in none, in the order of writing. */
  getByUser(userId: string | undefined, runId: string | undefined): ConversationRow[] {
    const isOfUser = userId === undefined ? isNull(sessions.userId) : eq(sessions.userId, userId);
    const isOfRun = runId === undefined ? isNull(sessions.runId) : eq(sessions.runId, runId);
    const owned = this.database.query.select({ id: sessions.id }).from(sessions).where(and(isOfUser, isOfRun));
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
  log(entry: Omit<typeof auditLogs.$inferInsert, 'id' | 'createdAt'>): void {
    const row = { ...entry, id: randomUUID(), createdAt: Date.now() };
    this.database.guard((query) => query.insert(auditLogs).values(row).run());
  }

  getBySession(sessionId: string) {
    return this.select(auditLogs, eq(auditLogs.sessionId, sessionId));
  }
}
