import { z } from 'zod';
import { object } from '../schemas.ts';
import { phaseMeans, qualityEstimates, tokenMeans } from './arm-results.ts';
import { estimate } from './estimate.ts';

/** One arm under one condition, over all its turns there, or over those whose evidence lies in one third of the memories. */
export const conditionResults = object({
  arm: z.string(),
  /** As the data set gives it: the share of the window, the number of memories, the depth of the conversation. */
  condition: z.number(),
  /** Place of the evidence among the memories, by creation; null for all items. */
  place: z.enum(['early', 'middle', 'late']).nullable(),
  n: z.number(),
  errors: z.number(),
  metrics: qualityEstimates.extend({ ttftMs: estimate.nullable() }).readonly(),
  phasesMs: phaseMeans,
  tokens: tokenMeans,
  /** Means a turn: memories that the user had, that were retrieved, that fitted, that did not, and tokens of those that did. */
  memories: z.record(z.enum(['stored', 'retrieved', 'kept', 'dropped', 'tokens']), z.number()).readonly(),
  /** Turns whose question alone was left of the prompt. */
  forced: z.number(),
});

const crossing = {
  arm: z.string(),
  /** Of a turn that computes its KV, and of one that finds it. */
  missMs: z.number(),
  hitMs: z.number(),
  /** The first turn with one set of memories after which the sum is no longer above that of the text; null for never. */
  turn: z.number().nullable(),
  /** 95 % interval over users; null stands for never. */
  low: z.number().nullable(),
  high: z.number().nullable(),
};

/** As older runs have it: against `rag`, which was taken at one mean over both. */
const olderBreakEven = z
  .object({ ...crossing, ragMs: z.number() })
  .transform(({ ragMs, ...rest }) => ({ ...rest, against: 'rag', textMissMs: ragMs, textHitMs: ragMs }));

/** The cost of keeping KV at first and its savings later, in time to the first token, against an arm of text. */
export const breakEven = z.union([
  z.object({
    ...crossing,
    /** The baseline, or the arm of prefix caching. */
    against: z.string(),
    /** Of that arm, on the items of the misses and on those of the hits. */
    textMissMs: z.number(),
    textHitMs: z.number(),
  }),
  olderBreakEven,
]);

export type ConditionResults = z.output<typeof conditionResults>;
export type BreakEven = Readonly<z.output<typeof breakEven>>;
