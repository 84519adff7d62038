import { z } from 'zod';
import { list, object } from '../schemas.ts';
import { servingMeasurement } from './serving.ts';
import { estimate, lowerBound, quantiles, upperBound } from './estimate.ts';

/** Bytes of KV, and the time that moving them takes. */
export const storageMeasurement = object({
  kvType: z.string(),
  tier: z.enum(['memory', 'disk', 'text']),
  tokens: z.number(),
  bytesPerToken: z.number(),
  /** Over the repeats; null for what is neither saved nor loaded. */
  saveMs: quantiles.nullable(),
  loadMs: quantiles.nullable(),
  /** Evaluating the same tokens, median. */
  evaluateMs: z.number().nullable(),
});

/** Secrets that came out, for one arm: `said[asker][owner]` counts answers. */
export const leakMatrix = object({
  arm: z.string(),
  users: list(z.string()),
  /** Answers of each asker. */
  answers: z.number(),
  said: list(list(z.number())),
  /** Upper 95 % bound of the share of answers that hold another's secret. */
  upperBound: z.number(),
});

const milliseconds = z.number();

/** Quality of one retrieval strategy on questions of one kind. */
export const retrievalMeasurement = object({
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
  againstRouter: object({ delta: z.number(), low: lowerBound, high: upperBound, p: z.number() }).nullable(),
  /** Means a question. */
  timingsMs: object({ embedding: milliseconds, search: milliseconds, ranking: milliseconds, total: milliseconds }),
  /** Means a question; null where the strategy has no budget. */
  budgetTokens: object({ used: z.number(), limit: z.number() }).nullable(),
});

/** Retrieval strategies on questions whose evidence is known, made by the seed of the run or those of its data sets. */
export const retrievalMeasurements = object({
  users: z.number(),
  /** Of each user, at least. */
  memories: z.number(),
  /** Data sets that were asked besides, with all their memories; `leftOut` are items that no memory answers. Missing in older runs. */
  datasets: list(
    object({
      name: z.string(),
      users: z.number(),
      memories: z.number(),
      questions: z.number(),
      leftOut: z.number(),
    }),
  ).exactOptional(),
  rows: list(retrievalMeasurement),
  /** By strategy, as it counts itself on the questions made by seed: memories that its filters refused, work that its caches saved. */
  stats: z.record(z.string(), z.record(z.string(), z.unknown()).readonly()).readonly(),
});

/** Measurements of suites that ask no questions. */
export const measured = object({
  storage: list(storageMeasurement).exactOptional(),
  leaks: list(leakMatrix).exactOptional(),
  retrieval: retrievalMeasurements.exactOptional(),
  serving: servingMeasurement.exactOptional(),
});

export type StorageMeasurement = z.output<typeof storageMeasurement>;
export type LeakMatrix = z.output<typeof leakMatrix>;
export type RetrievalMeasurement = z.output<typeof retrievalMeasurement>;
export type RetrievalMeasurements = z.output<typeof retrievalMeasurements>;
export type Measured = z.output<typeof measured>;
