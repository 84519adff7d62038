import { eq, sql } from 'drizzle-orm';
import { sessions, type SessionRow } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';

export interface SessionOwner {
  readonly userId?: string;
  /** The run that the session is made for; it goes when the run or the run's user is deleted. */
  readonly runId?: string;
}

/** The sessions. */
export class SessionRepository {
  readonly #database: BenchDatabase;
  readonly #select;
  readonly #insert;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#select = database.query
      .select()
      .from(sessions)
      .where(eq(sessions.id, sql.placeholder('id')))
      .prepare();
    this.#insert = database.query
      .insert(sessions)
      .values({
        id: sql.placeholder('id'),
        userId: sql.placeholder('userId'),
        runId: sql.placeholder('runId'),
        createdAt: sql.placeholder('createdAt'),
      })
      .onConflictDoNothing()
      .prepare();
  }

  /** The session of that id. Where there is none it is made for `owner`; one that exists keeps its own. */
  getOrCreate(id: string, owner: SessionOwner = {}): SessionRow {
    return this.#database.guard(() => {
      const existing = this.#select.get({ id });
      if (existing !== undefined) return existing;
      const row = {
        id,
        userId: owner.userId ?? null,
        runId: owner.runId ?? null,
        createdAt: Date.now(),
      };
      const inserted = this.#insert.run(row).changes === 1;
      // Another process was faster.
      return inserted ? row : (this.#select.get({ id }) as SessionRow);
    });
  }

  /** Deletes the sessions whose ids begin so, with all that was said and remembered in them. */
  deleteBeginningWith(prefix: string): void {
    this.#database.guard(() =>
      this.#database.query
        .delete(sessions)
        .where(eq(sql`substr(${sessions.id}, 1, ${prefix.length})`, prefix))
        .run(),
    );
  }
}
