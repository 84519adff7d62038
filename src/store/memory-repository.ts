import { randomBytes } from 'node:crypto';
import { and, eq, inArray, isNull } from 'drizzle-orm';
import { type BenchDatabase, Repository } from './database.ts';
import { memories, type MemoryRow, userPreferences, type UserPreferenceRow } from './schema.ts';

export interface NewMemory {
  /** Default: a `timeOrderedId`. */
  readonly id?: string | undefined;
  readonly sessionId: string;
  readonly userId?: string | undefined;
  readonly content: string;
  readonly embedding?: Float32Array | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since 1970; default: now. */
  readonly createdAt?: number | undefined;
}

/** The owner of the memories of a user in a run: users with the same id in different runs are different users. */
export const ownerInRun = (runId: string, userId: string): string => `${runId}/${userId}`;

const isMemory = (owner: string, id: string) => and(eq(memories.owner, owner), eq(memories.id, id));

/** Stored memories and preferences of one run, or of no run. Lists are in the order of writing. */
export class MemoryRepository extends Repository {
  readonly #runId: string | undefined;

  /** @param runId the run of the memories */
  constructor(database: BenchDatabase, runId?: string) {
    super(database);
    this.#runId = runId;
  }

  /** Stores a memory and returns its id. It replaces a memory with the same owner and id, and becomes the newest. */
  create(memory: NewMemory): string {
    const { id = timeOrderedId(), createdAt = Date.now(), ...rest } = memory;
    const owner = this.#owner(memory);
    this.database.transaction((query) => {
      query.delete(memories).where(isMemory(owner, id)).run();
      const row = { ...rest, owner, id, createdAt };
      query.insert(memories).values(row).run();
    });
    return id;
  }

  /** Marks a stored memory as a preference of its user, until the memory is removed or replaced. */
  prefer(memory: NewMemory & { readonly id: string; readonly userId: string }): void {
    const { id, sessionId, userId, content, metadata } = memory;
    const row = { owner: this.#owner(memory), id, sessionId, userId, content, metadata, createdAt: Date.now() };
    this.database.guard((query) => query.insert(userPreferences).values(row).run());
  }

  getBySession(sessionId: string): MemoryRow[] {
    return this.select(memories, eq(memories.sessionId, sessionId));
  }

  /** Without a user: the memories of all sessions without one. */
  getByUser(userId: string | undefined): MemoryRow[] {
    return this.select(memories, this.#isOwned(userId));
  }

  preferences(userId: string): UserPreferenceRow[] {
    return this.select(userPreferences, eq(userPreferences.owner, this.#owner({ userId })));
  }

  /** The memories with that id in a session: at most one with a user and one without. */
  getInSession(sessionId: string, id: string): MemoryRow[] {
    return this.select(memories, and(eq(memories.sessionId, sessionId), eq(memories.id, id)));
  }

  /** The user's memories with these ids. Without a user: those of sessions without one, each of which may have its own. */
  getByIds(userId: string | undefined, ids: readonly string[]): MemoryRow[] {
    return this.select(memories, and(this.#isOwned(userId), inArray(memories.id, [...ids])));
  }

  #isOwned(userId: string | undefined) {
    return userId === undefined ? isNull(memories.userId) : eq(memories.owner, this.#owner({ userId }));
  }

  delete({ owner, id }: Pick<MemoryRow, 'owner' | 'id'>): void {
    this.database.guard((query) => query.delete(memories).where(isMemory(owner, id)).run());
  }

  /** The key within which memory ids are unique: the user, or the session for memories without a user. */
  #owner({ userId, sessionId = '' }: { readonly userId?: string | undefined; readonly sessionId?: string }): string {
    if (userId === undefined) return `session ${sessionId}`;
    if (this.#runId !== undefined) return ownerInRun(this.#runId, userId);
    // A user may be called like the key of a session, or of a user in a run.
    return /^(?:session|user) |^[0-9a-f-]{36}\//.test(userId) ? `user ${userId}` : userId;
  }
}

const COUNTER_BITS = 12n;
let last = 0n;

/** A UUID of version 7 that sorts after all earlier ones of this process, even if the clock steps back. @see RFC 9562 */
export function timeOrderedId(nowMs: number = Date.now()): string {
  const earliest = BigInt(nowMs) << COUNTER_BITS;
  last = earliest > last ? earliest : last + 1n;
  const time = last.toString(16).padStart(15, '0');
  const random = randomBytes(8);
  random[0] = (random[0]! & 0x3f) | 0x80;
  const rest = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${time.slice(12)}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}
