import { z } from 'zod';
import { servingMeasurement } from './serving.ts';
import { estimate, lowerBound, quantiles, upperBound } from './estimate.ts';

/** Bytes of K/V, and the time that moving them takes. */
export const storageMeasurement = z
  .object({
    kvType: z.string(),
    tier: z.enum(['memory', 'disk', 'text']),
    tokens: z.number(),
    bytesPerToken: z.number(),
    /** Over the repeats; null for what is neither saved nor loaded. */
    saveMs: quantiles.nullable(),
    loadMs: quantiles.nullable(),
    /** Evaluating the same tokens, median. */
    evaluateMs: z.number().nullable(),
  })
  .readonly();

/** Secrets that came out, for one arm: `said[asker][owner]` counts answers. */
export const leakMatrix = z
  .object({
    arm: z.string(),
    users: z.array(z.string()).readonly(),
    /** Answers of each asker. */
    answers: z.number(),
    said: z.array(z.array(z.number()).readonly()).readonly(),
    /** Upper 95 % bound of the share of answers that hold another's secret. */
    upperBound: z.number(),
  })
  .readonly();

const milliseconds = z.number();

/** Quality of one retrieval strategy on questions of one kind. */
export const retrievalMeasurement = z
  .object({
    /** Data set whose questions were asked; missing for those made by seed. */
    dataset: z.string().exactOptional(),
    strategy: z.string(),
    /** Embedder of the strategy, where it is not that of the run. */
    embedder: z.string().exactOptional(),
    /** `all`, or a kind of question: the category of a data set. */
    kind: z.string(),
    n: z.number(),
    metrics: z
      .record(z.enum(['recallAt1', 'recallAt5', 'recallAt10', 'mrr', 'ndcgAt10']), estimate.nullable())
      .readonly(),
    /** Recall@5 less that of the router, paired by question; null for the router itself. */
    againstRouter: z
      .object({ delta: z.number(), low: lowerBound, high: upperBound, p: z.number() })
      .readonly()
      .nullable(),
    /** Means a question. */
    timingsMs: z
      .object({ embedding: milliseconds, search: milliseconds, ranking: milliseconds, total: milliseconds })
      .readonly(),
    /** Means a question; null where the strategy has no budget. */
    budgetTokens: z.object({ used: z.number(), limit: z.number() }).readonly().nullable(),
  })
  .readonly();

/** Retrieval strategies on questions whose evidence is known, made by the seed of the run or those of its data sets. */
export const retrievalMeasurements = z
  .object({
    users: z.number(),
    /** Of each user, at least. */
    memories: z.number(),
    /** Data sets that were asked besides, with all their memories; `leftOut` are items that no memory answers. Missing in older runs. */
    datasets: z
      .array(
        z
          .object({
            name: z.string(),
            users: z.number(),
            memories: z.number(),
            questions: z.number(),
            leftOut: z.number(),
          })
          .readonly(),
      )
      .readonly()
      .exactOptional(),
    rows: z.array(retrievalMeasurement).readonly(),
    /** By strategy, as it counts itself on the questions made by seed: memories that its filters refused, work that its caches saved. */
    stats: z.record(z.string(), z.record(z.string(), z.unknown()).readonly()).readonly(),
  })
  .readonly();

/** Measurements of suites that ask no questions. */
export const measured = z
  .object({
    storage: z.array(storageMeasurement).readonly().exactOptional(),
    leaks: z.array(leakMatrix).readonly().exactOptional(),
    retrieval: retrievalMeasurements.exactOptional(),
    serving: servingMeasurement.exactOptional(),
  })
  .readonly();

export type StorageMeasurement = z.output<typeof storageMeasurement>;
export type LeakMatrix = z.output<typeof leakMatrix>;
export type RetrievalMeasurement = z.output<typeof retrievalMeasurement>;
export type RetrievalMeasurements = z.output<typeof retrievalMeasurements>;
export type Measured = z.output<typeof measured>;
