import { eq } from 'drizzle-orm';
import { beginsWith, Repository } from './database.ts';
import { sessions, type SessionRow } from './schema.ts';

export interface SessionOwner {
  readonly userId?: string | null | undefined;
  /** The run that the session is made for; it goes when the run or the run's user is deleted. */
  readonly runId?: string | null | undefined;
}

/** The sessions. */
export class SessionRepository extends Repository {
  /** The session of that id. If there is none it is made for `owner`; one that exists keeps its own. */
  getOrCreate(id: string, { userId = null, runId = null }: SessionOwner = {}): SessionRow {
    return this.database.guard((query) => {
      const find = () => query.select().from(sessions).where(eq(sessions.id, id)).get();
      const existing = find();
      if (existing !== undefined) return existing;
      query.insert(sessions).values({ id, userId, runId, createdAt: Date.now() }).onConflictDoNothing().run();
      return find()!;
    });
  }

  /** Deletes the sessions whose ids begin so, with their messages and memories. */
  deleteBeginningWith(prefix: string): void {
    this.database.guard((query) => query.delete(sessions).where(beginsWith(sessions.id, prefix)).run());
  }
}
