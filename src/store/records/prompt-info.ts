import { z } from 'zod';
import { list, numbers, object, texts } from './zod-helpers.ts';

/**
 * Parts of the prompt. `template`: text and markers of the model's chat template; `answerPrefix`: the beginning of the answer, if
 * it is given to the model.
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
  /** Empty for BOS, which is a token without text. */
  text: z.string(),
  memoryId: z.string().exactOptional(),
  tokenIds: list(z.number()),
  origin: z.enum(['evaluated', 'injected']),
});

const droppedPart = object({
  part: z.enum(['memory', 'history', 'system']),
  id: z.string(),
  /** Null if they were not counted: the budget was already full. */
  tokens: z.number().nullable(),
  rule: z.enum(['memory-budget', 'history-budget', 'history-turns', 'forced-truncation']),
});

export const budget = object({
  ...numbers('windowTokens', 'reserveTokens', 'memoryLimitTokens', 'memoryTokens', 'historyTokens'),
  /** BOS, system prompt, query, footer and answer prefix. */
  fixedTokens: z.number(),
  /** Tokens that share the position of another token: each takes a cell, but no position of its own. */
  sharedTokens: z.number(),
  /** Cells of sink tokens before blocks, which are not in the prompt; missing if there are none. */
  sinkTokens: z.number().exactOptional(),
  /** Positions left. */
  freeTokens: z.number(),
  dropped: list(droppedPart),
  /** True if even the fixed part did not fit, so that only the query and an answer prefix are left. */
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
/** A segment of the prompt with its token ids and the origin of its KV. */
export type PromptSegment = z.output<typeof promptSegment>;
/** A part that the prompt leaves out, and the rule that dropped it. */
export type DroppedPart = z.output<typeof droppedPart>;
/** Use of the context window, in tokens. */
export type Budget = z.output<typeof budget>;
/** A message of the conversation so far. */
export type HistoryMessage = z.output<typeof historyMessage>;
/** The prompt as the model saw it, and the budget behind it. */
export type PromptInfo = z.output<typeof promptInfo>;
