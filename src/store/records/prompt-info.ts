import { z } from 'zod';
import { list, numbers, object, texts } from './zod-helpers.ts';

/**
 * Parts of the final sequence; `template` is a piece of a model's own chat template, markers and all; `answerPrefix` the
 * beginning of the answer, where the model is given one.
 */
const segmentRole = z.enum([
  'bos',
  'system',
  'memoryHeader',
  'memory',
  'memoryFooter',
  'historyHeader',
  'history',
  'historyFooter',
  'query',
  'footer',
  'template',
  'answerPrefix',
]);

const promptSegment = object({
  role: segmentRole,
  /** Empty for BOS, which is one token and no text. */
  text: z.string(),
  memoryId: z.string().exactOptional(),
  tokenIds: list(z.number()),
  origin: z.enum(['evaluated', 'injected']),
});

const droppedPart = object({
  part: z.enum(['memory', 'history', 'system']),
  id: z.string(),
  /** null where they were not counted: the budget was full before. */
  tokens: z.number().nullable(),
  rule: z.enum(['memory-budget', 'history-budget', 'history-turns', 'forced-truncation']),
});

export const budget = object({
  ...numbers('windowTokens', 'reserveTokens', 'memoryLimitTokens', 'memoryTokens', 'historyTokens'),
  /** BOS, system prompt, query, footer and answer prefix. */
  fixedTokens: z.number(),
  /** Tokens at a position that another token has as well: they take a cell, and no position. */
  sharedTokens: z.number(),
  /** Cells of shared tokens in front of blocks, which stand in no prompt; missing where there are none. */
  sinkTokens: z.number().exactOptional(),
  /** Positions left. */
  freeTokens: z.number(),
  dropped: list(droppedPart),
  /** Everything but the query was given up, since even the fixed part was too long. */
  forced: z.boolean(),
  warnings: list(z.string()),
});

const historyMessage = object({ role: z.enum(['user', 'assistant']), content: z.string() });

export const promptInfo = object({
  ...texts('originalQuery', 'systemPrompt', 'retrievedContext', 'historyText'),
  historyMessages: list(historyMessage),
  finalPrompt: z.string(),
  segments: list(promptSegment),
  budget,
});

export type SegmentRole = z.output<typeof segmentRole>;
/** A segment of the final sequence with its token ids and the origin of its KV. */
export type PromptSegment = z.output<typeof promptSegment>;
/** A part that does not stand in the sequence, and the rule that dropped it. */
export type DroppedPart = z.output<typeof droppedPart>;
/** Use of the context window, in tokens. */
export type Budget = z.output<typeof budget>;
/** A message of the conversation so far. */
export type HistoryMessage = z.output<typeof historyMessage>;
/** The prompt as the model saw it, and the budget behind it. */
export type PromptInfo = z.output<typeof promptInfo>;
