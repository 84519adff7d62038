import { foreignKey, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { float32, json } from './columns.ts';
import { runs } from './schema.ts';

/** Milliseconds since 1970. */
const createdAt = integer('created_at').notNull();

/** One conversation of one user. In a run every (run, item, arm, repeat) has its own. */
export const sessions = sqliteTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: text('user_id'),
    runId: text('run_id').references(() => runs.id, { onDelete: 'cascade' }),
    createdAt,
  },
  (table) => [index('sessions_run_user').on(table.runId, table.userId)],
);

/** Memories. An id is unique within its session, so that two runs over one data set never disturb each other. */
export const memories = sqliteTable(
  'memories',
  {
    id: text('id').notNull(),
    sessionId: text('session_id')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    userId: text('user_id'),
    content: text('content').notNull(),
    embedding: float32('embedding'),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.id] }), index('memories_user').on(table.userId)],
);

/** The messages of a session. */
export const conversations = sqliteTable(
  'conversations',
  {
    id: text('id').primaryKey(),
    sessionId: text('session_id')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['user', 'assistant', 'system'] }).notNull(),
    content: text('content').notNull(),
    // Of an answer; null of any other message.
    injectionMode: text('injection_mode'),
    /** By which the values of memories were multiplied; null where none was injected. */
    injectionAlpha: real('injection_alpha'),
    memoryIds: json('memory_ids').$type<readonly string[] | null>(),
    latencyMs: real('latency_ms'),
    // The `TokenCounts` of its turn.
    promptTokens: integer('prompt_tokens'),
    kvResidentTokens: integer('kv_resident_tokens'),
    /** Null where the engine does not count them. */
    evaluatedTokens: integer('evaluated_tokens'),
    generatedTokens: integer('generated_tokens'),
    positions: integer('positions'),
    createdAt,
  },
  (table) => [index('conversations_session').on(table.sessionId)],
);

/** Uses of memories; a row outlives its session. */
export const auditLogs = sqliteTable(
  'audit_logs',
  {
    id: text('id').primaryKey(),
    action: text('action').notNull(),
    sessionId: text('session_id'),
    memoryIds: json('memory_ids').$type<readonly string[] | null>(),
    alpha: real('alpha'),
    mode: text('mode'),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [index('audit_logs_session').on(table.sessionId)],
);

/**
 * Statements that a user wants to be taken into account in every turn, and that `dki-hybrid` injects. Each is a memory too, is
 * retrieved as such, and goes when that is removed or replaced.
 */
export const userPreferences = sqliteTable(
  'user_preferences',
  {
    /** The memory's. */
    id: text('id').notNull(),
    sessionId: text('session_id').notNull(),
    userId: text('user_id').notNull(),
    content: text('content').notNull(),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.id] }),
    foreignKey({
      columns: [table.sessionId, table.id],
      foreignColumns: [memories.sessionId, memories.id],
    }).onDelete('cascade'),
    index('user_preferences_user').on(table.userId),
  ],
);

export type SessionRow = typeof sessions.$inferSelect;
export type MemoryRow = typeof memories.$inferSelect;
export type ConversationRow = typeof conversations.$inferSelect;
export type UserPreferenceRow = typeof userPreferences.$inferSelect;
export type AuditLogRow = typeof auditLogs.$inferSelect;
