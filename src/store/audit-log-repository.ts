import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { auditLogs, type AuditLogRow } from './schema.ts';
import { Repository } from './database.ts';

export interface NewAuditLog {
  /** `rag_generate`, `dki_generate` and so on. */
  readonly action: string;
  readonly sessionId?: string;
  readonly memoryIds?: readonly string[];
  /** Null if no KV was injected. */
  readonly alpha?: number | null;
  readonly mode?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Uses of memories. */
export class AuditLogRepository extends Repository {
  /** Writes one entry and returns its id. */
  log(entry: NewAuditLog): string {
    const id = randomUUID();
    const row = { ...entry, id, createdAt: Date.now() };
    this.database.guard((query) => query.insert(auditLogs).values(row).run());
    return id;
  }

  /** The entries of a session in the order in which they were written. */
  getBySession(sessionId: string): AuditLogRow[] {
    return this.select(auditLogs, eq(auditLogs.sessionId, sessionId));
  }
}
