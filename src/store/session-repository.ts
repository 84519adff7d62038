import { eq } from 'drizzle-orm';
import { BenchError } from '../base/bench-error.ts';
import { formatValue } from '../base/format-value.ts';
import { beginsWith, Repository } from './database.ts';
import { type SessionRow, sessions } from './schema.ts';

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
    return this.database.guard((query) => query.select().from(sessions).where(eq(sessions.id, id)).get());
  }

  /** Deletes the sessions with ids that begin with `prefix`, and their messages and memories. */
  deleteBeginningWith(prefix: string): void {
    this.database.guard((query) => query.delete(sessions).where(beginsWith(sessions.id, prefix)).run());
  }
}

/** A user's session is closed to other users, and to callers who name no user. */
function requireOwner({ id, userId: owner }: SessionRow, userId: string | null): void {
  if (owner === null || owner === userId) return;
  throw new BenchError(
    'no-session',
    `session ${formatValue(id)} belongs to another user${userId === null ? '' : ` than ${formatValue(userId)}`}`,
    'name the user of the session, or another session',
  );
}
