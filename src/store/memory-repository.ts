import { and, eq, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { memories, type MemoryRow, tombstones, userPreferences, type UserPreferenceRow } from './schema.ts';
import { timeOrderedId } from './time-ordered-id.ts';

export interface NewMemory {
  /** Default: a UUID in the order of creation. */
  readonly id?: string | undefined;
  readonly sessionId: string;
  readonly userId?: string | undefined;
  readonly content: string;
  readonly embedding?: Float32Array | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since 1970; default: now. */
  readonly createdAt?: number | undefined;
}

/** Stored memories and preferences: those of one run, or those that belong to no run. */
export class MemoryRepository {
  readonly #database: BenchDatabase;
  readonly #runId: string | undefined;

  /** @param runId the run that the memories belong to: a user of a data set is another in every run */
  constructor(database: BenchDatabase, runId?: string) {
    this.#database = database;
    this.#runId = runId;
  }

  /** Stores a memory and returns its id. One of the same owner and id is replaced and becomes the newest. */
  create(memory: NewMemory): string {
    const { id = timeOrderedId(), sessionId, userId = null, content, embedding = null, metadata = null } = memory;
    const createdAt = memory.createdAt ?? Date.now();
    const owner = this.#owner(memory);
    const { query } = this.#database;
    this.#database.transaction(() => {
      query
        .delete(memories)
        .where(and(eq(memories.owner, owner), eq(memories.id, id)))
        .run();
      query
        .delete(tombstones)
        .where(and(eq(tombstones.owner, owner), eq(tombstones.memoryId, id)))
        .run();
      query.insert(memories).values({ owner, id, sessionId, userId, content, embedding, metadata, createdAt }).run();
    });
    return id;
  }

  /** Marks a stored memory as a preference of its user; it stops being one when the memory is removed or replaced. */
  prefer(memory: NewMemory & { readonly id: string; readonly userId: string }): void {
    const { id, sessionId, userId, content, metadata = null } = memory;
    const row = { owner: this.#owner(memory), id, sessionId, userId, content, metadata, createdAt: Date.now() };
    this.#database.guard((query) => query.insert(userPreferences).values(row).run());
  }

  /** The memories of a session, in the order in which they were stored. */
  getBySession(sessionId: string): MemoryRow[] {
    return this.#list(eq(memories.sessionId, sessionId));
  }

  /** The memories of a user in all sessions, in the order in which they were stored. */
  getByUser(userId: string): MemoryRow[] {
    return this.#list(eq(memories.owner, this.#owner({ userId })));
  }

  /** The preferences of a user, in the order in which they were stored. */
  preferences(userId: string): UserPreferenceRow[] {
    return this.#database.guard((query) =>
      query
        .select()
        .from(userPreferences)
        .where(eq(userPreferences.owner, this.#owner({ userId })))
        .orderBy(sql`rowid`)
        .all(),
    );
  }

  /** Removes a memory and leaves a tombstone; false where there was none. */
  delete(sessionId: string, id: string): boolean {
    const { query } = this.#database;
    return this.#database.transaction(() => {
      const ofSession = and(eq(memories.sessionId, sessionId), eq(memories.id, id));
      const removed = query.delete(memories).where(ofSession).returning({ owner: memories.owner }).all();
      for (const { owner } of removed) {
        const removedAt = Date.now();
        query.insert(tombstones).values({ owner, memoryId: id, removedAt }).onConflictDoNothing().run();
      }
      return removed.length > 0;
    });
  }

  /** The key under which a user's memories are unique; memories of no user are unique within their session. */
  #owner({ userId, sessionId = '' }: { readonly userId?: string | undefined; readonly sessionId?: string }): string {
    if (userId === undefined) return `session ${sessionId}`;
    return this.#runId === undefined ? userId : `${this.#runId}/${userId}`;
  }

  #list(condition: ReturnType<typeof and>): MemoryRow[] {
    return this.#database.guard((query) =>
      query
        .select()
        .from(memories)
        .where(condition)
        .orderBy(sql`rowid`)
        .all(),
    );
  }
}
