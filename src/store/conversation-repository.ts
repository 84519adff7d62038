import { randomUUID } from 'node:crypto';
import { desc, eq, sql } from 'drizzle-orm';
import { conversations, type ConversationRow } from './conversation-schema.ts';
import type { TokenCounts } from './records/token-counts.ts';
import type { BenchDatabase } from './database.ts';

export interface NewMessage {
  readonly sessionId: string;
  readonly role: ConversationRow['role'];
  readonly content: string;
  /** The prefill strategy: `rag`, `dki` and so on; of an answer only. */
  readonly injectionMode?: string;
  /** Null where no K/V was injected. */
  readonly injectionAlpha?: number | null;
  readonly memoryIds?: readonly string[];
  readonly latencyMs?: number;
  readonly tokens?: TokenCounts;
}

/** The messages of the sessions. */
export class ConversationRepository {
  readonly #database: BenchDatabase;
  readonly #insert;
  readonly #recent;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#insert = database.query
      .insert(conversations)
      .values({
        id: sql.placeholder('id'),
        sessionId: sql.placeholder('sessionId'),
        role: sql.placeholder('role'),
        content: sql.placeholder('content'),
        injectionMode: sql.placeholder('injectionMode'),
        injectionAlpha: sql.placeholder('injectionAlpha'),
        memoryIds: sql.placeholder('memoryIds'),
        latencyMs: sql.placeholder('latencyMs'),
        promptTokens: sql.placeholder('promptTokens'),
        kvResidentTokens: sql.placeholder('kvResidentTokens'),
        evaluatedTokens: sql.placeholder('evaluatedTokens'),
        generatedTokens: sql.placeholder('generatedTokens'),
        positions: sql.placeholder('positions'),
        createdAt: sql.placeholder('createdAt'),
      })
      .prepare();
    this.#recent = database.query
      .select()
      .from(conversations)
      .where(eq(conversations.sessionId, sql.placeholder('sessionId')))
      // By order of writing: two messages of one turn often share a millisecond, and clocks step back.
      .orderBy(desc(sql`${conversations}.rowid`))
      .limit(sql.placeholder('maxMessages'))
      .prepare();
  }

  /** Stores a message of an existing session and returns its id. */
  create(message: NewMessage): string {
    const id = randomUUID();
    const { tokens } = message;
    this.#database.guard(() =>
      this.#insert.run({
        id,
        sessionId: message.sessionId,
        role: message.role,
        content: message.content,
        injectionMode: message.injectionMode ?? null,
        injectionAlpha: message.injectionAlpha ?? null,
        memoryIds: message.memoryIds ?? null,
        latencyMs: message.latencyMs ?? null,
        promptTokens: tokens?.prompt ?? null,
        kvResidentTokens: tokens?.kvResident ?? null,
        // NaN, of an engine that does not count them, is NULL to SQLite.
        evaluatedTokens: tokens?.evaluated ?? null,
        generatedTokens: tokens?.generated ?? null,
        positions: tokens?.positions ?? null,
        createdAt: Date.now(),
      }),
    );
    return id;
  }

  /** All messages of the sessions whose ids begin so, in the order in which they were written. */
  getByPrefix(sessionPrefix: string): ConversationRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(conversations)
        .where(eq(sql`substr(${conversations.sessionId}, 1, ${sessionPrefix.length})`, sessionPrefix))
        .orderBy(sql`${conversations}.rowid`)
        .all(),
    );
  }

  /** Deletes messages; ids that are gone already are no error. */
  delete(ids: readonly string[]): void {
    this.#database.transaction(() => {
      for (const id of ids) this.#database.query.delete(conversations).where(eq(conversations.id, id)).run();
    });
  }

  /** The newest messages of a session, at most `maxMessages`, the oldest of them first. */
  getRecent(sessionId: string, maxMessages = Number.MAX_SAFE_INTEGER): ConversationRow[] {
    // A negative limit would mean "all" to SQLite.
    if (maxMessages <= 0) return [];
    return this.#database.guard(() => this.#recent.all({ sessionId, maxMessages }).reverse());
  }
}
