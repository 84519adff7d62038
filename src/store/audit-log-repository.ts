import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { auditLogs, type AuditLogRow } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';

export interface NewAuditLog {
  /** `rag_generate`, `dki_generate` and so on. */
  readonly action: string;
  readonly sessionId?: string;
  readonly memoryIds?: readonly string[];
  /** Null where no K/V was injected. */
  readonly alpha?: number | null;
  readonly mode?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Uses of memories. */
export class AuditLogRepository {
  readonly #database: BenchDatabase;
  readonly #insert;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#insert = database.query
      .insert(auditLogs)
      .values({
        id: sql.placeholder('id'),
        action: sql.placeholder('action'),
        sessionId: sql.placeholder('sessionId'),
        memoryIds: sql.placeholder('memoryIds'),
        alpha: sql.placeholder('alpha'),
        mode: sql.placeholder('mode'),
        metadata: sql.placeholder('metadata'),
        createdAt: sql.placeholder('createdAt'),
      })
      .prepare();
  }

  /** Writes one entry and returns its id. */
  log(entry: NewAuditLog): string {
    const id = randomUUID();
    this.#database.guard(() =>
      this.#insert.run({
        id,
        action: entry.action,
        sessionId: entry.sessionId ?? null,
        memoryIds: entry.memoryIds ?? null,
        alpha: entry.alpha ?? null,
        mode: entry.mode ?? null,
        metadata: entry.metadata ?? null,
        createdAt: Date.now(),
      }),
    );
    return id;
  }

  /** The entries of a session in the order in which they were written. */
  getBySession(sessionId: string): AuditLogRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(auditLogs)
        .where(eq(auditLogs.sessionId, sessionId))
        .orderBy(sql`${auditLogs}.rowid`)
        .all(),
    );
  }
}
