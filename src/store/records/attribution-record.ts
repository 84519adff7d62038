import { z } from 'zod';

/** A memory is left out as `text` of the prompt, or as one of its `blocks` of K/V. */
export const attributionMethods = ['text', 'blocks'] as const;

/** Leave-one-out attribution of an answer: its log-probability with all memories, and without each. */
export const attributionRecord = z
  .object({
    method: z.enum(attributionMethods),
    /** Sum of ln p over the tokens of the answer, with all memories. */
    logProbability: z.number(),
    /** The same without each, in the order of the sequence. */
    memories: z.array(z.object({ memoryId: z.string(), logProbability: z.number() }).readonly()).readonly(),
    /** Time inside the engine. */
    modelMs: z.number(),
  })
  .readonly();

export type AttributionRecord = z.output<typeof attributionRecord>;
