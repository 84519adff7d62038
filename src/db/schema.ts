import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { float32, json } from './columns.ts';

/** Milliseconds since 1970. */
const createdAt = integer('created_at').notNull();

/** One conversation of one user. In a run every (run, item, arm, repeat) has its own. */
export const sessions = sqliteTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: text('user_id'),
    runId: text('run_id').references(() => runs.id, { onDelete: 'cascade' }),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [index('sessions_run_user').on(table.runId, table.userId)],
);

/** What is remembered. An id is unique within its session, so that two runs over one data set never disturb each other. */
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
    preference: integer('preference', { mode: 'boolean' }).notNull().default(false),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.id] }), index('memories_user').on(table.userId)],
);

/** The messages of a session. @see seed 004 §6.2 */
export const conversations = sqliteTable(
  'conversations',
  {
    id: text('id').primaryKey(),
    sessionId: text('session_id')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['user', 'assistant', 'system'] }).notNull(),
    content: text('content').notNull(),
    injectionMode: text('injection_mode'),
    injectionAlpha: real('injection_alpha'),
    memoryIds: json('memory_ids').$type<readonly string[] | null>(),
    latencyMs: real('latency_ms'),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [index('conversations_session').on(table.sessionId)],
);

/** What was done with whose memories; a row outlives its session. @see seed 004 §6.3 */
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

/** What a user always wants to be taken into account; the hybrid hand-over injects these as K/V. */
export const userPreferences = sqliteTable(
  'user_preferences',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    content: text('content').notNull(),
    metadata: json('metadata'),
    createdAt,
  },
  (table) => [index('user_preferences_user').on(table.userId)],
);

/** One run of the bench with all that is needed to repeat it. */
export const runs = sqliteTable('runs', {
  id: text('id').primaryKey(),
  name: text('name').notNull().unique(),
  suite: text('suite').notNull(),
  status: text('status', { enum: ['running', 'finished', 'interrupted', 'failed'] }).notNull(),
  seed: integer('seed').notNull(),
  config: json('config'),
  /** Git commit and dirty flag, hash of the lockfile, versions, threads, CPU. */
  environment: json('environment'),
  model: json('model'),
  embedder: json('embedder'),
  dataset: json('dataset'),
  retriever: json('retriever'),
  /** What was found out beside the turns: self-tests, isolation, profile. */
  probes: json('probes'),
  results: json('results'),
  startedAt: integer('started_at').notNull(),
  finishedAt: integer('finished_at'),
});

/** One answer of one arm to one question. Ids rise in the order of writing. */
export const turns = sqliteTable(
  'turns',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    itemId: text('item_id').notNull(),
    userId: text('user_id').notNull(),
    arm: text('arm').notNull(),
    repeat: integer('repeat').notNull(),
    /** Number of the turn within its session, from 0. */
    turn: integer('turn').notNull(),
    /** Place in the order in which the arms of an item were executed, from 0. */
    position: integer('position').notNull(),
    sessionId: text('session_id').notNull(),
    promptInfo: json('prompt_info'),
    timings: json('timings'),
    tokens: json('tokens'),
    scores: json('scores'),
    /** What was recalled, each with score, rank and whether it was kept. */
    memories: json('memories'),
    /** The injected blocks, where they came from and what they cost. */
    kv: json('kv'),
    /** Empty where there is an error. */
    answer: text('answer').notNull(),
    error: text('error'),
    createdAt,
  },
  (table) => [
    uniqueIndex('turns_identity').on(table.runId, table.arm, table.itemId, table.repeat, table.turn),
    index('turns_run_item').on(table.runId, table.itemId),
    index('turns_run_user').on(table.runId, table.userId),
  ],
);

/**
 * What lists of turns filter, sort and show, a narrow row each: those of `turns` hold every token that the model was given.
 * Triggers of migration 0002 write a row with each turn, in its transaction; whoever rebuilds `turns` makes them anew.
 * @see docs/adr/0012-list-of-turns.md
 */
export const turnList = sqliteTable(
  'turn_list',
  {
    turnId: integer('turn_id')
      .primaryKey()
      .references(() => turns.id, { onDelete: 'cascade' }),
    runId: text('run_id').notNull(),
    itemId: text('item_id').notNull(),
    userId: text('user_id').notNull(),
    arm: text('arm').notNull(),
    repeat: integer('repeat').notNull(),
    turn: integer('turn').notNull(),
    category: text('category'),
    /** Forced, or memories or history were dropped. */
    truncated: integer('truncated', { mode: 'boolean' }).notNull(),
    /** Some turn of the item succeeded and another did not. */
    disagreeing: integer('disagreeing', { mode: 'boolean' }).notNull(),
    taskSuccess: real('task_success'),
    exactMatch: real('exact_match'),
    tokenF1: real('token_f1'),
    memoryRecall: real('memory_recall'),
    rougeL: real('rouge_l'),
    bleu: real('bleu'),
    abstention: real('abstention'),
    goldLogProbability: real('gold_log_probability'),
    freeLogProbability: real('free_log_probability'),
    recallRank: integer('recall_rank'),
    firstTokenMs: real('first_token_ms'),
    totalMs: real('total_ms'),
    promptTokens: integer('prompt_tokens'),
    kvResidentTokens: integer('kv_resident_tokens'),
    evaluatedTokens: integer('evaluated_tokens'),
    generatedTokens: integer('generated_tokens'),
    wrongClass: text('wrong_class'),
    error: text('error'),
    question: text('question'),
    answer: text('answer').notNull(),
  },
  (table) => [
    // Finds the first and the last turn of a run.
    index('turn_list_run').on(table.runId),
    index('turn_list_run_item').on(table.runId, table.itemId, table.taskSuccess),
    index('turn_list_run_arm').on(table.runId, table.arm, table.itemId, table.taskSuccess),
    index('turn_list_run_category').on(table.runId, table.category),
  ],
);

/** What the tokens of a model stand for, of those that turns hold: sequences are stored as ids. */
export const tokenPieces = sqliteTable(
  'token_pieces',
  {
    modelSha256: text('model_sha256').notNull(),
    tokenId: integer('token_id').notNull(),
    /** As the model alone detokenises it: a part of a character is U+FFFD. */
    piece: text('piece').notNull(),
  },
  (table) => [primaryKey({ columns: [table.modelSha256, table.tokenId] })],
);

/** What each memory of a turn did to its answer, found by leaving it out. */
export const influences = sqliteTable('influences', {
  turnId: integer('turn_id')
    .primaryKey()
    .references(() => turns.id, { onDelete: 'cascade' }),
  /** Whether a memory was left out as text, or as a block of K/V. */
  method: text('method', { enum: ['text', 'blocks'] }).notNull(),
  /** Sum of ln p over the tokens of the answer, with all memories. */
  logProbability: real('log_probability').notNull(),
  /** The same without each: `{ memoryId, logProbability }`, in the order of the sequence. */
  memories: json('memories').notNull(),
  /** Time inside the language model. */
  modelMs: real('model_ms').notNull(),
  createdAt,
});

export type SessionRow = typeof sessions.$inferSelect;
export type MemoryRow = typeof memories.$inferSelect;
export type ConversationRow = typeof conversations.$inferSelect;
export type AuditLogRow = typeof auditLogs.$inferSelect;
export type PreferenceRow = typeof userPreferences.$inferSelect;
export type RunRow = typeof runs.$inferSelect;
export type RunStatus = RunRow['status'];
export type TurnRow = typeof turns.$inferSelect;
export type TurnListRow = typeof turnList.$inferSelect;
export type InfluenceRow = typeof influences.$inferSelect;
