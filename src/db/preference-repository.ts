import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { userPreferences, type PreferenceRow } from './schema.ts';

export interface NewPreference {
  /** A random UUID where not given; one that exists is replaced. */
  readonly id?: string;
  readonly userId: string;
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The preferences of the users, which the hybrid hand-over injects as K/V. */
export class PreferenceRepository {
  readonly #database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /** Stores a preference and returns its id. */
  create(preference: NewPreference): string {
    const id = preference.id ?? randomUUID();
    const { userId, content, metadata } = preference;
    this.#database.transaction(() => {
      this.delete(id);
      this.#database.query
        .insert(userPreferences)
        .values({ id, userId, content, metadata: metadata ?? null, createdAt: Date.now() })
        .run();
    });
    return id;
  }

  /** The preferences of a user in the order in which they were stored. */
  getByUser(userId: string): PreferenceRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(userPreferences)
        .where(eq(userPreferences.userId, userId))
        .orderBy(sql`${userPreferences}.rowid`)
        .all(),
    );
  }

  /** Removes a preference; false where there was none. */
  delete(id: string): boolean {
    return this.#database.guard(
      () => this.#database.query.delete(userPreferences).where(eq(userPreferences.id, id)).run().changes > 0,
    );
  }
}
