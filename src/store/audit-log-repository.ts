import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { Repository } from './database.ts';
import { auditLogs } from './schema.ts';

export class AuditLogRepository extends Repository {
  log(entry: Omit<typeof auditLogs.$inferInsert, 'id' | 'createdAt'>): string {
    const id = randomUUID();
    const row = { ...entry, id, createdAt: Date.now() };
    this.database.guard((query) => query.insert(auditLogs).values(row).run());
    return id;
  }

  getBySession(sessionId: string) {
    return this.select(auditLogs, eq(auditLogs.sessionId, sessionId));
  }
}
