/**
 * The columns of the tables of a database. A run (`runs`) has users (`run_users`) and turns (`turns`, one row each). A session has
 * memories, messages and audit entries. The SQL in `migrations/` creates the tables with keys and indexes, and upgrades older
 * databases.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { customType, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { attributionMethods, type AttributionRecord } from './records/attribution-record.ts';
import type { RunResults } from './records/run-results.ts';
import { type RunRecord, runStatuses } from './records/run-record.ts';
import type { UserShare } from './records/worker-result-bundle.ts';
import type { Measures, TurnDocument } from './turn-row-mapping.ts';

/** JSON in a text column; unlike drizzle's, it writes NULL for `null` in prepared statements too. */
const json = customType<{ data: unknown; driverData: string | null }>({
  dataType: () => 'text',
  toDriver: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
  fromDriver: (text) => (text === null ? null : (JSON.parse(text) as unknown)),
});

/** A JSON document in a blob column, compressed by zlib. */
const deflatedJson = customType<{ data: unknown; driverData: Buffer | null }>({
  dataType: () => 'blob',
  toDriver: (value) => (value === null || value === undefined ? null : deflateSync(JSON.stringify(value))),
  fromDriver: (blob) => (blob === null ? null : (JSON.parse(inflateSync(blob).toString()) as unknown)),
});

/** A vector in a blob column: float32 in the machine's byte order (little-endian), without a header. */
const float32 = customType<{ data: Float32Array | null; driverData: Buffer | null }>({
  dataType: () => 'blob',
  toDriver: (vector) => (vector === null ? null : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
  // Copied, because a blob may start at an offset where no Float32Array can.
  fromDriver: (blob) => (blob === null ? null : new Float32Array(new Uint8Array(blob).buffer)),
});

/** Milliseconds since 1970. */
const createdAt = integer('created_at').notNull();

/** One run of the bench with everything needed to repeat it: a `RunRecord`, and the results. */
export const runs = sqliteTable('runs', {
  id: text('id').primaryKey(),
  /** Version of the records of the run and of its turns. */
  schemaVersion: integer('schema_version').notNull(),
  name: text('name').notNull().unique(),
  suite: text('suite').notNull(),
  status: text('status', { enum: runStatuses }).notNull(),
  seed: integer('seed').notNull(),
  plan: json('plan').$type<RunRecord['plan']>().notNull(),
  environment: json('environment').$type<RunRecord['environment']>().notNull(),
  model: json('model').$type<RunRecord['model']>().notNull(),
  embedder: json('embedder').$type<RunRecord['embedder']>().notNull(),
  dataset: json('dataset').$type<RunRecord['dataset']>().notNull(),
  retriever: json('retriever').$type<RunRecord['retriever']>().notNull(),
  probes: json('probes').$type<RunRecord['probes']>(),
  /** Written when the run ends. */
  results: json('results').$type<RunResults | null>(),
  startedAt: integer('started_at').notNull(),
  finishedAt: integer('finished_at'),
});

/** The users of a run that a worker, one process, has claimed. */
export const runUsers = sqliteTable('run_users', {
  runId: text('run_id').notNull(),
  userId: text('user_id').notNull(),
  /** Place among the users of the plan, from 0. */
  position: integer('position').notNull(),
  /** Empty once a worker that ended early gave the user back. */
  worker: text('worker').notNull(),
  /** Null while the worker runs the turns. */
  finishedAt: integer('finished_at'),
  /** Findings of the worker; null once the run's record contains them. */
  share: json('share').$type<UserShare | null>(),
});

/**
 * The turns of runs, one row each, in the order of writing. Lists and pages read the narrow columns, statistics read `measures`,
 * and the page of one turn reads `document` too. The index `turns_list` holds every column by which lists are filtered and
 * sorted, so that they read only the index. The wide columns come last.
 */
export const turns = sqliteTable('turns', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  runId: text('run_id').notNull(),
  sessionId: text('session_id').notNull(),
  state: text('state', { enum: ['answered', 'failed'] }).notNull(),
  // Run, arm, item, repeat and turn identify a row.
  itemId: text('item_id').notNull(),
  userId: text('user_id').notNull(),
  arm: text('arm').notNull(),
  repeat: integer('repeat').notNull(),
  /** Number of the turn within its session, from 0. */
  turn: integer('turn').notNull(),
  /** Place in the order in which the arms of an item ran, from 0. */
  position: integer('position').notNull(),
  createdAt,
  category: text('category'),
  /** Memories or history were dropped, or the prompt was cut to the query. */
  truncated: integer('truncated', { mode: 'boolean' }).notNull(),
  /** Value of the run's primary metric. */
  primaryValue: real('primary_value'),
  taskSuccess: real('task_success'),
  exactMatch: real('exact_match'),
  tokenF1: real('token_f1'),
  memoryRecall: real('memory_recall'),
  rougeL: real('rouge_l'),
  bleu: real('bleu'),
  abstention: real('abstention'),
  goldLogProbability: real('gold_log_probability'),
  freeLogProbability: real('free_log_probability'),
  evidenceRank: integer('evidence_rank'),
  firstTokenMs: real('first_token_ms'),
  totalMs: real('total_ms'),
  promptTokens: integer('prompt_tokens'),
  kvResidentTokens: integer('kv_resident_tokens'),
  evaluatedTokens: integer('evaluated_tokens'),
  generatedTokens: integer('generated_tokens'),
  wrongClass: text('wrong_class'),
  /** `hit`, `miss` or `bypass`, as the arm reports. */
  cache: text('cache'),
  /** The first stage of the evidence funnel that failed. */
  failedStage: text('failed_stage'),
  /** The checks that this turn alone fails, comma-separated; null if it fails none. */
  failedChecks: text('failed_checks'),
  error: text('error'),
  /** Null for a failed turn. */
  question: text('question'),
  /** Null if only abstaining is right, and for a failed turn. */
  gold: text('gold'),
  answer: text('answer').notNull(),
  /** The parts that statistics read (`turn-row-mapping.ts`). Null for turns of a report. */
  measures: json('measures').$type<Measures | null>(),
  /** The other parts: prompt, retrieved texts, KV blocks, token ids. Null for a failed turn, and for turns of a report. */
  document: deflatedJson('document').$type<TurnDocument | null>(),
});

/** Texts of a model's tokens: turns store sequences as token ids. */
export const tokenPieces = sqliteTable('token_pieces', {
  modelSha256: text('model_sha256').notNull(),
  tokenId: integer('token_id').notNull(),
  /** The token detokenised alone; a part of a character is U+FFFD. */
  piece: text('piece').notNull(),
});

/** Verdicts of judges on answers and points of them; the same question is sent once for all runs and arms. */
export const judgeVerdicts = sqliteTable('judge_verdicts', {
  /** sha-256 of model, prompt, question, golds or point, and answer. */
  key: text('key').primaryKey(),
  /** 0, ½ or 1. */
  value: real('value').notNull(),
  createdAt,
});

/** Leave-one-out attributions of the answers of turns: an `AttributionRecord` each. */
export const attributions = sqliteTable('attributions', {
  turnId: integer('turn_id').primaryKey(),
  method: text('method', { enum: attributionMethods }).notNull(),
  logProbability: real('log_probability').notNull(),
  memories: json('memories').$type<AttributionRecord['memories']>().notNull(),
  modelMs: real('model_ms').notNull(),
  createdAt,
});

/** One conversation of one user. In a run every (item, arm, repeat) has its own, and one per user holds the memories. */
export const sessions = sqliteTable('sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id'),
  runId: text('run_id'),
  createdAt,
});

/** Memories. An id is unique per owner. */
export const memories = sqliteTable('memories', {
  /** The user, or `session SESSION` for no user; within a run `RUN/USER`, since each run has separate users. */
  owner: text('owner').notNull(),
  id: text('id').notNull(),
  sessionId: text('session_id').notNull(),
  userId: text('user_id'),
  content: text('content').notNull(),
  embedding: float32('embedding'),
  metadata: json('metadata'),
  createdAt,
});

/** Memories that a user wants considered in every turn; `dki-hybrid` injects them. Each is deleted with its memory. */
export const userPreferences = sqliteTable('user_preferences', {
  owner: text('owner').notNull(),
  /** Id of the memory. */
  id: text('id').notNull(),
  sessionId: text('session_id').notNull(),
  userId: text('user_id').notNull(),
  content: text('content').notNull(),
  metadata: json('metadata'),
  createdAt,
});

export const conversations = sqliteTable('conversations', {
  id: text('id').primaryKey(),
  sessionId: text('session_id').notNull(),
  role: text('role', { enum: ['user', 'assistant', 'system'] }).notNull(),
  content: text('content').notNull(),
  // The columns below are null for messages that are not answers.
  /** The prefill strategy: `rag`, `dki` and so on. */
  injectionMode: text('injection_mode'),
  /** Factor on the values of memories; null if no KV was injected. */
  injectionAlpha: real('injection_alpha'),
  memoryIds: json('memory_ids').$type<readonly string[] | null>(),
  latencyMs: real('latency_ms'),
  promptTokens: integer('prompt_tokens'),
  kvResidentTokens: integer('kv_resident_tokens'),
  /** Null if the engine does not count them. */
  evaluatedTokens: integer('evaluated_tokens'),
  generatedTokens: integer('generated_tokens'),
  positions: integer('positions'),
  createdAt,
});

/** Uses of memories; a row outlives its session. */
export const auditLogs = sqliteTable('audit_logs', {
  id: text('id').primaryKey(),
  /** `rag_generate`, `dki_generate` and so on. */
  action: text('action').notNull(),
  sessionId: text('session_id'),
  memoryIds: json('memory_ids').$type<readonly string[] | null>(),
  /** Null if no KV was injected. */
  alpha: real('alpha'),
  mode: text('mode'),
  metadata: json('metadata'),
  createdAt,
});

export type TurnRow = typeof turns.$inferSelect;

/** Columns of turns, for queries that read only these. */
export function turnColumns<Name extends keyof TurnRow>(...names: readonly Name[]): Pick<typeof turns, Name> {
  return Object.fromEntries(names.map((name) => [name, turns[name]])) as Pick<typeof turns, Name>;
}

export type SessionRow = typeof sessions.$inferSelect;
export type MemoryRow = typeof memories.$inferSelect;
export type ConversationRow = typeof conversations.$inferSelect;
export type UserPreferenceRow = typeof userPreferences.$inferSelect;
