import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { conversations, type ConversationRow } from './schema.ts';
import type { TokenCounts } from './records/turn-record.ts';
import { beginsWith, Repository } from './database.ts';

export interface NewMessage {
  readonly sessionId: string;
  readonly role: ConversationRow['role'];
  readonly content: string;
  /** The prefill strategy: `rag`, `dki` and so on; of an answer only. */
  readonly injectionMode?: string;
  /** Null if no KV was injected. */
  readonly injectionAlpha?: number | null;
  readonly memoryIds?: readonly string[];
  readonly latencyMs?: number;
  readonly tokens?: TokenCounts;
}

/** The messages of the sessions. */
export class ConversationRepository extends Repository {
  /** Stores a message of an existing session and returns its id. */
  create({ tokens, ...message }: NewMessage): string {
    const id = randomUUID();
    const row = {
      ...message,
      id,
      promptTokens: tokens?.prompt,
      kvResidentTokens: tokens?.kvResident,
      // NaN, from an engine that does not count them, is NULL to SQLite.
      evaluatedTokens: tokens?.evaluated,
      generatedTokens: tokens?.generated,
      positions: tokens?.positions,
      createdAt: Date.now(),
    };
    this.database.guard((query) => query.insert(conversations).values(row).run());
    return id;
  }

  /** All messages of the sessions whose ids begin so, in the order in which they were written. */
  getByPrefix(sessionPrefix: string): ConversationRow[] {
    return this.select(conversations, beginsWith(conversations.sessionId, sessionPrefix));
  }

  /** Deletes messages; ids that are gone already are no error. */
  delete(ids: readonly string[]): void {
    this.database.transaction((query) => {
      for (const id of ids) query.delete(conversations).where(eq(conversations.id, id)).run();
    });
  }

  /** The newest messages of a session, at most `maxMessages`, the oldest of them first. */
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
