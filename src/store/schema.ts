import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { type AttributionRecord, attributionMethods } from './records/attribution-record.ts';
import type { RunResults } from './records/results.ts';
import { type RunRecord, runStatuses } from './records/run-record.ts';
import type { AnsweredTurn, FailedTurn } from './records/turn-record.ts';
import type { UserShare } from './records/user-share.ts';
import { bytes, float64, json } from './columns.ts';

/** Milliseconds since 1970. */
const createdAt = integer('created_at').notNull();

/** One run of the bench with all that is needed to repeat it: a `RunRecord`, and its results. */
export const runs = sqliteTable('runs', {
  id: text('id').primaryKey(),
  /** Of the records of the run and of its turns. */
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
  /** As they were when the run ended. */
  results: json('results').$type<RunResults | null>(),
  startedAt: integer('started_at').notNull(),
  finishedAt: integer('finished_at'),
});

/**
 * One turn each: a `TurnRecord`, whose groups are columns. Ids rise in the order of writing. The longest column stands last,
 * so that reading the others does not walk over it.
 */
export const turns = sqliteTable(
  'turns',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    sessionId: text('session_id').notNull(),
    state: text('state', { enum: ['answered', 'failed'] }).notNull(),
    itemId: text('item_id').notNull(),
    userId: text('user_id').notNull(),
    arm: text('arm').notNull(),
    repeat: integer('repeat').notNull(),
    /** Number of the turn within its session, from 0. */
    turn: integer('turn').notNull(),
    /** Place in the order in which the arms of an item were executed, from 0. */
    position: integer('position').notNull(),
    createdAt,
    // Null of a failed turn.
    item: json('item').$type<AnsweredTurn['item'] | null>(),
    facts: json('facts').$type<AnsweredTurn['facts'] | null>(),
    account: json('account').$type<AnsweredTurn['account'] | null>(),
    answer: json('answer').$type<AnsweredTurn['answer'] | null>(),
    timings: json('timings').$type<AnsweredTurn['timings'] | null>(),
    tokens: json('tokens').$type<AnsweredTurn['tokens'] | null>(),
    scores: json('scores').$type<AnsweredTurn['scores'] | null>(),
    observed: json('observed').$type<AnsweredTurn['observed'] | null>(),
    /** Null of an answered turn. */
    error: json('error').$type<FailedTurn['error'] | null>(),
    given: json('given').$type<AnsweredTurn['given'] | null>(),
    prefill: json('prefill').$type<AnsweredTurn['prefill']>(),
    prompt: json('prompt').$type<AnsweredTurn['prompt'] | null>(),
  },
  (table) => [
    uniqueIndex('turns_identity').on(table.runId, table.arm, table.itemId, table.repeat, table.turn),
    index('turns_run_item').on(table.runId, table.itemId),
    index('turns_run_user').on(table.runId, table.userId),
  ],
);

/**
 * The users of a run who were begun: each by one worker at a time, which holds the claim until all turns of the user are
 * there. A worker is one process; the claims of one that is gone are deleted.
 */
export const runUsers = sqliteTable(
  'run_users',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    userId: text('user_id').notNull(),
    /** Place among the users of the plan, from 0. */
    position: integer('position').notNull(),
    worker: text('worker').notNull(),
    /** Null while the questions are asked. */
    finishedAt: integer('finished_at'),
    /** Findings of the worker; null once it stands in the record of the run. */
    share: json('share').$type<UserShare | null>(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.userId] })],
);

/**
 * Values by which lists of turns are filtered and sorted, and that they show, a narrow row each: those of `turns` hold every
 * token that the model was given. A trigger of migration 0000 writes a row with each turn, in its transaction, from a view of
 * migration 0005; a migration that rebuilds `turns` must make the trigger anew.
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
    evidenceRank: integer('evidence_rank'),
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
    /** Of the run's primary metric. */
    primaryValue: real('primary_value'),
    /** Null where only abstaining is right, and of a failed turn. */
    gold: text('gold'),
    /** `hit`, `miss` or `bypass`, by the arm's own account. */
    cache: text('cache'),
    /** The first stage of the evidence funnel that failed. */
    failedStage: text('failed_stage'),
    /** The checks of the run that this turn alone fails, comma-separated; null where it fails none. */
    failedChecks: text('failed_checks'),
  },
  (table) => [
    // Finds the first and the last turn of a run.
    index('turn_list_run').on(table.runId),
    index('turn_list_run_item').on(table.runId, table.itemId, table.taskSuccess),
    index('turn_list_run_arm').on(table.runId, table.arm, table.itemId, table.taskSuccess),
    index('turn_list_run_category').on(table.runId, table.category),
  ],
);

/**
 * The turns of a user as far as results are computed from them, in columns: a copy, for runs of a million turns. It is made when
 * the user is finished or results are asked for; triggers of migration 0006 delete it when a turn of the user is written, changed
 * or deleted. A migration that rebuilds `turns` must make them anew.
 * @see docs/adr/0027-results-in-columns.md
 */
export const packedResults = sqliteTable(
  'packed_results',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    userId: text('user_id').notNull(),
    /** Names the columns: what another release packed is made anew. */
    layout: text('layout').notNull(),
    turns: integer('turns').notNull(),
    /** A line of JSON a column. */
    values: text('values').notNull(),
    places: bytes('places').notNull(),
    numbers: float64('numbers').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.userId] })],
);

/**
 * The parts of the index by which lists of the turns of a long run answer at once: a copy. It is made when the run has ended; triggers of
 * migration 0007 delete it when a row of its list is written, changed or deleted.
 * @see docs/adr/0028-turn-index.md
 */
export const turnIndexParts = sqliteTable(
  'turn_index_parts',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    data: bytes('data').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.name] })],
);

/** Texts of a model's tokens, of those that turns hold: sequences are stored as ids. */
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

/** Verdicts of judges on answers, by what was asked: a question is sent once, whatever run or arm asks it. */
export const judgeVerdicts = sqliteTable('judge_verdicts', {
  /** sha256 of model, prompt, question, golds and answer. */
  key: text('key').primaryKey(),
  right: integer('right', { mode: 'boolean' }).notNull(),
  createdAt,
});

/** Leave-one-out attributions of the answers of turns: an `AttributionRecord` each. */
export const attributions = sqliteTable('attributions', {
  turnId: integer('turn_id')
    .primaryKey()
    .references(() => turns.id, { onDelete: 'cascade' }),
  method: text('method', { enum: attributionMethods }).notNull(),
  logProbability: real('log_probability').notNull(),
  memories: json('memories').$type<AttributionRecord['memories']>().notNull(),
  modelMs: real('model_ms').notNull(),
  createdAt,
});

export type RunRow = typeof runs.$inferSelect;
export type TurnRow = typeof turns.$inferSelect;
export type TurnListRow = typeof turnList.$inferSelect;
