import { z } from 'zod';
import { list, object } from './zod-helpers.ts';

/** A memory is left out as `text` of the prompt, or as one of its `blocks` of KV. */
export const attributionMethods = ['text', 'blocks'] as const;

/** Leave-one-out attribution of an answer: its log-probability with all memories, and without each. */
export const attributionRecord = object({
  method: z.enum(attributionMethods),
  /** Sum of ln p over the tokens of the answer, with all memories. */
  logProbability: z.number(),
  /** The same without each, in the order of the sequence. */
  memories: list(object({ memoryId: z.string(), logProbability: z.number() })),
  /** Time inside the engine. */
  modelMs: z.number(),
});

export type AttributionRecord = z.output<typeof attributionRecord>;
