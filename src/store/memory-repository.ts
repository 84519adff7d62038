import { and, eq, sql } from 'drizzle-orm';
import { memories, type MemoryRow } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';
import { timeOrderedId } from './time-ordered-id.ts';

export interface NewMemory {
  /** Default: a UUID in the order of creation. */
  readonly id?: string | undefined;
  readonly sessionId: string;
  readonly userId?: string | undefined;
  readonly content: string;
  readonly embedding?: Float32Array | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since 1970; now, where not given. */
  readonly createdAt?: number | undefined;
}

/** The stored memories; an id names one within its session. */
export class MemoryRepository {
  readonly #database: BenchDatabase;
  readonly #insert;
  readonly #delete;

  constructor(database: BenchDatabase) {
    this.#database = database;
    const one = and(eq(memories.sessionId, sql.placeholder('sessionId')), eq(memories.id, sql.placeholder('id')));
    this.#delete = database.query.delete(memories).where(one).prepare();
    this.#insert = database.query
      .insert(memories)
      .values({
        id: sql.placeholder('id'),
        sessionId: sql.placeholder('sessionId'),
        userId: sql.placeholder('userId'),
        content: sql.placeholder('content'),
        embedding: sql.placeholder('embedding'),
        metadata: sql.placeholder('metadata'),
        createdAt: sql.placeholder('createdAt'),
      })
      .prepare();
  }

  /** Stores a memory and returns its id. One of the same id in the same session is replaced and becomes the newest. */
  create(memory: NewMemory): string {
    const id = memory.id ?? timeOrderedId();
    this.#database.transaction(() => {
      this.#delete.run({ sessionId: memory.sessionId, id });
      this.#insert.run({
        id,
        sessionId: memory.sessionId,
        userId: memory.userId ?? null,
        content: memory.content,
        embedding: memory.embedding ?? null,
        metadata: memory.metadata ?? null,
        createdAt: memory.createdAt ?? Date.now(),
      });
    });
    return id;
  }

  /** The memories of a session, in the order in which they were stored. */
  getBySession(sessionId: string): MemoryRow[] {
    return this.#list(eq(memories.sessionId, sessionId));
  }

  /** The memories of a user in all sessions, in the order in which they were stored. */
  getByUser(userId: string): MemoryRow[] {
    return this.#list(eq(memories.userId, userId));
  }

  /** The stored vector, or null where the memory is unknown or was stored without one. */
  getEmbedding(sessionId: string, id: string): Float32Array | null {
    return this.#list(and(eq(memories.sessionId, sessionId), eq(memories.id, id)))[0]?.embedding ?? null;
  }

  /** Removes a memory; false where there was none. */
  delete(sessionId: string, id: string): boolean {
    return this.#database.guard(() => this.#delete.run({ sessionId, id }).changes > 0);
  }

  #list(condition: ReturnType<typeof and>): MemoryRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(memories)
        .where(condition)
        .orderBy(sql`${memories}.rowid`)
        .all(),
    );
  }
}
