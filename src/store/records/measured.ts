import { z } from 'zod';
import { estimate, lowerBound, quantiles, upperBound } from './estimate.ts';
import { list, object } from './schemas.ts';

/** One arm under a load that arrives at one rate; times from the planned arrival of a turn. */
export const servedLoad = object({
  arm: z.string(),
  /** Turns a second, as planned: the same for all arms. */
  offered: z.number(),
  turns: z.number(),
  /** Turns that failed; they are in no other number. */
  errors: z.number(),
  /** Turns a second from the first planned arrival to the last answer. */
  answered: z.number(),
  /** To the first token. Of a saturated load, whose times depend on how long it is played, the median alone. */
  ttftMs: quantiles.nullable(),
  /** The queue still grew at the end. */
  saturated: z.boolean(),
  /** Means a turn; null where the engine does not count them. */
  evaluatedTokens: z.number().nullable(),
  reusedTokens: z.number().nullable(),
  /** KV that was moved into sessions and out of them, mean a turn. */
  movedBytes: z.number(),
  /** Turns whose set of memories, or prefix, was found; null for an arm that keeps none. */
  hits: z.number().nullable(),
  /** Turns whose answer is that of `rag` to the same turn at the same rate; null of `rag` itself, and without it. */
  sameAsText: z.number().nullable(),
  /** Tokens that the engine evaluated, and those that the turns say; null where it does not count them. */
  meter: object({ engine: z.number(), turns: z.number() }).nullable(),
});

/** Arms under load: conversations of several turns that arrive at planned times. */
export const servingMeasurement = object({
  /** Turns that are answered at once. */
  sessions: z.number(),
  conversations: z.number(),
  /** Of the turns behind the first of a conversation, the planned share that ask an earlier question of it again. */
  recurrence: z.number(),
  /** Turns a second of each arm when the next is always there. */
  capacity: z.record(z.string(), z.number()).readonly(),
  loads: list(servedLoad),
});

export type ServedLoad = z.output<typeof servedLoad>;
export type ServingMeasurement = z.output<typeof servingMeasurement>;

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
