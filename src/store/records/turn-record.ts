import { z } from 'zod';
import { list, object } from './schemas.ts';
import { observed } from './observed.ts';
import { prefillRecord } from './prefill-record.ts';
import { promptInfo } from './prompt-info.ts';
import { retrievalRecord, retrievedMemory } from './retrieval-record.ts';
import { scores } from './scores.ts';
import { timings } from './timings.ts';
import { tokenCounts } from './token-counts.ts';
import { turnAccount } from './turn-account.ts';

/** Names one turn of a run. */
export const turnKey = z.object({
  itemId: z.string(),
  userId: z.string(),
  arm: z.string(),
  repeat: z.number().int(),
  turn: z.number().int(),
  /** Place in the order in which the arms of the item ran, from 0. */
  position: z.number().int(),
});

/** The question, copied from the data set, so that analysis needs no data file. */
export const itemRecord = object({
  query: z.string(),
  /** Null where only abstaining is right. */
  gold: z.string().nullable(),
  /** Other right answers. */
  acceptedAnswers: list(z.string()).default([]),
  /** Id of the relation that is asked for, such as `dentist`; null where the data set does not say. */
  relation: z.string().nullable().default(null),
  /** Text that begins the answer, so that the gold comes next; null where the data set gives none. */
  answerPrefix: z.string().nullable().default(null),
  category: z.string(),
  /** Empty where the data set does not say. */
  phrasing: z.string(),
  userKind: z.string(),
  /** In which it is scored. */
  language: z.enum(['en', 'zh']),
  /** Memories that the user had when asked, and how many of them are the evidence. */
  memories: z.number(),
  evidence: z.number(),
  /** Place of the first memory of the evidence among the user's, by creation, from 0 to 1; null without evidence. */
  evidencePlace: z.number().nullable(),
  /** The value that the suite varies; null where it varies none. */
  condition: z.number().nullable(),
});

/** Facts of a prompt, kept beside it so that tables need not read every token again. */
export const promptFacts = object({
  tokens: z.number(),
  /** Up to the last memory line; 0 without memories. */
  prefixTokens: z.number(),
  /** The memories that stand in it, in their order. */
  memoryIds: list(z.string()),
  forced: z.boolean(),
  droppedMemories: z.number(),
  droppedHistory: z.number(),
  /** Tokens of the memory lines, their header and footer. */
  memoryTokens: z.number(),
  /** sha-256 of the history in it: arms that answer differently have different conversations. */
  historySha256: z.string(),
  /** Memories that were retrieved, and those of them that fitted. */
  retrievedMemories: z.number(),
  keptMemories: z.number(),
});

/** A generated answer. */
export const answerRecord = object({
  /** Generated, as metrics score it: without the prefix, and without a thought. */
  text: z.string(),
  tokenIds: list(z.number()),
  stop: z.enum(['end', 'stop-text', 'sentence', 'length', 'aborted']),
  /** The text that the model was given to begin its answer with, and the white space behind it; absent without one. */
  prefix: z.string().exactOptional(),
  /** Of `tokenIds`, those of a thought that was cut off; absent without one. */
  thoughtTokens: z.number().int().exactOptional(),
});

/** All that was retrieved, ranked, and how; `retrieval` is null for an arm that asked no retriever. */
export const givenRecord = object({
  retrieved: list(retrievedMemory),
  retrieval: retrievalRecord.nullable(),
  /** The retriever's own summary, Markdown; absent where it makes none. */
  summary: z.string().exactOptional(),
});

/** The columns of a turn that gave an answer; each is one JSON document, written by one layer. */
const answeredColumns = z.object({
  /** From the data set. */
  item: itemRecord,
  /** From the runner. */
  given: givenRecord,
  /** From the system: the prompt as the model saw it, and its facts. */
  prompt: promptInfo,
  facts: promptFacts,
  /** From the prefill strategy; null where nothing was injected. */
  prefill: prefillRecord.nullable(),
  account: turnAccount,
  /** From the engine. */
  answer: answerRecord,
  timings,
  tokens: tokenCounts,
  /** From the runner, after the turn. */
  observed,
  scores,
});

/** A turn that gave an answer, with all that the model was given for it. */
export const answeredTurn = object({ state: z.literal('answered'), ...turnKey.shape, ...answeredColumns.shape });

/** `code` is that of a BenchError. */
const turnError = object({ code: z.string().nullable(), message: z.string() });

/** A turn that failed, and why. */
export const failedTurn = object({ state: z.literal('failed'), ...turnKey.shape, error: turnError });

/** One turn of one arm: the only declaration; types, database columns, viewer and results derive from it. */
export const turnRecord = z.discriminatedUnion('state', [answeredTurn, failedTurn]);

export type TurnKey = Readonly<z.output<typeof turnKey>>;
export type ItemRecord = z.output<typeof itemRecord>;
export type GivenRecord = z.output<typeof givenRecord>;
export type PromptFacts = z.output<typeof promptFacts>;
export type AnswerRecord = z.output<typeof answerRecord>;
/** The record of a turn that has an answer. */
export type AnsweredTurn = z.output<typeof answeredTurn>;
/** The record of a turn that ended in an error. */
export type FailedTurn = z.output<typeof failedTurn>;
/** The record of a turn, answered or failed. */
export type TurnRecord = z.output<typeof turnRecord>;
