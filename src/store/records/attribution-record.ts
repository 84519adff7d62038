import { z } from 'zod';
import { list, object } from './zod-helpers.ts';

/** How a memory is left out: its text from the prompt, or its block from the KV. */
export const attributionMethods = ['text', 'blocks'] as const;

/** Leave-one-out attribution of an answer: its log-probability with all memories, and without each. */
export const attributionRecord = object({
  method: z.enum(attributionMethods),
  /** Sum of ln p over the tokens of the answer, with all memories. */
  logProbability: z.number(),
  /** The same without each memory, in the order of the prompt. */
  memories: list(object({ memoryId: z.string(), logProbability: z.number() })),
  /** Time inside the engine. */
  modelMs: z.number(),
});
export type AttributionRecord = z.output<typeof attributionRecord>;
