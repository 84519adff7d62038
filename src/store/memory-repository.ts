import { and, eq, inArray, isNull } from 'drizzle-orm';
import { type BenchDatabase, Repository } from './database.ts';
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

/** Stored memories and preferences: those of one run, or those that belong to no run. Lists are in the order of writing. */
export class MemoryRepository extends Repository {
  readonly #runId: string | undefined;

  /** @param runId the run that the memories belong to: a user of a data set is another in every run */
  constructor(database: BenchDatabase, runId?: string) {
    super(database);
    this.#runId = runId;
  }

  /** Stores a memory and returns its id. One of the same owner and id is replaced and becomes the newest. */
  create(memory: NewMemory): string {
    const { id = timeOrderedId(), createdAt = Date.now(), ...rest } = memory;
    const owner = this.#owner(memory);
    const isSame = and(eq(memories.owner, owner), eq(memories.id, id));
    const isRemoved = and(eq(tombstones.owner, owner), eq(tombstones.memoryId, id));
    this.database.transaction((query) => {
      query.delete(memories).where(isSame).run();
      query.delete(tombstones).where(isRemoved).run();
      const row = { ...rest, owner, id, createdAt };
      query.insert(memories).values(row).run();
    });
    return id;
  }

  /** Marks a stored memory as a preference of its user; it stops being one when the memory is removed or replaced. */
  prefer(memory: NewMemory & { readonly id: string; readonly userId: string }): void {
    const { id, sessionId, userId, content, metadata } = memory;
    const row = { owner: this.#owner(memory), id, sessionId, userId, content, metadata, createdAt: Date.now() };
    this.database.guard((query) => query.insert(userPreferences).values(row).run());
  }

  getBySession(sessionId: string): MemoryRow[] {
    return this.select(memories, eq(memories.sessionId, sessionId));
  }

  getByUser(userId: string): MemoryRow[] {
    return this.select(memories, eq(memories.owner, this.#owner({ userId })));
  }

  preferences(userId: string): UserPreferenceRow[] {
    return this.select(userPreferences, eq(userPreferences.owner, this.#owner({ userId })));
  }

  /** The memories of that id in a session: one, or one of its user and one of none. */
  getInSession(sessionId: string, id: string): MemoryRow[] {
    return this.select(memories, and(eq(memories.sessionId, sessionId), eq(memories.id, id)));
  }

  /** Those of the ids that are stored for a user, or for none. */
  storedIds(userId: string | undefined, ids: readonly string[]): ReadonlySet<string> {
    const isOwned = userId === undefined ? isNull(memories.userId) : eq(memories.owner, this.#owner({ userId }));
    return new Set(this.select(memories, and(isOwned, inArray(memories.id, [...ids]))).map(({ id }) => id));
  }

  delete({ owner, id }: Pick<MemoryRow, 'owner' | 'id'>): void {
    this.database.transaction((query) => {
      query
        .delete(memories)
        .where(and(eq(memories.owner, owner), eq(memories.id, id)))
        .run();
      const tombstone = { owner, memoryId: id, removedAt: Date.now() };
      query.insert(tombstones).values(tombstone).onConflictDoNothing().run();
    });
  }

  /** The key under which a user's memories are unique; memories of no user are unique within their session. */
  #owner({ userId, sessionId = '' }: { readonly userId?: string | undefined; readonly sessionId?: string }): string {
    if (userId === undefined) return `session ${sessionId}`;
    return this.#runId === undefined ? userId : `${this.#runId}/${userId}`;
  }
}
