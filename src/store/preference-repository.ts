import { and, eq, isNull, sql } from 'drizzle-orm';
import { sessions, userPreferences, type UserPreferenceRow } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';

export interface NewPreference {
  /** The id of the memory that it is, in the same session. */
  readonly id: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The preferences of users. Each is a stored memory too, and is removed by the database together with that. */
export class PreferenceRepository {
  readonly #database: BenchDatabase;
  readonly #insert;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#insert = database.query
      .insert(userPreferences)
      .values({
        id: sql.placeholder('id'),
        sessionId: sql.placeholder('sessionId'),
        userId: sql.placeholder('userId'),
        content: sql.placeholder('content'),
        metadata: sql.placeholder('metadata'),
        createdAt: sql.placeholder('createdAt'),
      })
      .prepare();
  }

  /** Stores a preference, whose memory is stored. */
  create({ metadata, ...preference }: NewPreference): void {
    this.#database.guard(() => this.#insert.run({ ...preference, metadata: metadata ?? null, createdAt: Date.now() }));
  }

  /**
   * The preferences of a user in the order in which they were stored: those of one run, or those that belong to none. A user
   * of a data set is another in every run.
   */
  getByUser(userId: string, runId?: string): UserPreferenceRow[] {
    const ofRun = runId === undefined ? isNull(sessions.runId) : eq(sessions.runId, runId);
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(userPreferences)
        .innerJoin(sessions, eq(sessions.id, userPreferences.sessionId))
        .where(and(eq(userPreferences.userId, userId), ofRun))
        .orderBy(sql`${userPreferences}.rowid`)
        .all()
        .map((row) => row.user_preferences),
    );
  }
}
