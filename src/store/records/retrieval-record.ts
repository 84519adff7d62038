import { z } from 'zod';
import { list, object } from './schemas.ts';

const milliseconds = z.number();

/** A retrieval without its memories: what is stored of it with the turn. */
export const retrievalRecord = object({
  /** The strategy that answered. */
  strategy: z.string(),
  /** Making vectors, asking stores and indexes, and putting their answers in order. */
  timingsMs: object({ embedding: milliseconds, search: milliseconds, ranking: milliseconds }),
  /** Tokens of its memories, and its budget of them, if the strategy has one. */
  tokensUsed: z.number().exactOptional(),
  tokenBudget: z.number().exactOptional(),
  flags: list(
    object({
      /**
       * `failed`: nothing could be retrieved, the turn went on without; `degraded`: a part was missing; `fallback`:
       * another way than the chosen one was taken; `cached`: an earlier answer was given again.
       */
      flag: z.enum(['failed', 'degraded', 'fallback', 'cached']),
      /** One line. */
      reason: z.string(),
    }),
  ),
  /** Steps of the strategy, for a reader: hints, tiers, paths taken; no texts of memories. */
  details: z.record(z.string(), z.unknown()).readonly(),
});

export type RetrievalRecord = z.output<typeof retrievalRecord>;

/** A memory that was retrieved for a turn. */
export const retrievedMemory = object({
  memoryId: z.string(),
  content: z.string(),
  score: z.number(),
  /** From 1. */
  rank: z.number(),
  /** Stands in the sequence. */
  kept: z.boolean(),
  /** Answers the question, by the data set. */
  evidence: z.boolean(),
});

export type RetrievedMemory = z.output<typeof retrievedMemory>;
