import { z } from 'zod';

const milliseconds = z.number();

/** A retrieval without its memories: what is stored of it with the turn. */
export const retrievalRecord = z
  .object({
    /** The strategy that answered. */
    strategy: z.string(),
    /** Making vectors, asking stores and indexes, and putting their answers in order. */
    timingsMs: z.object({ embedding: milliseconds, search: milliseconds, ranking: milliseconds }).readonly(),
    /** Tokens of its memories, and its budget of them, if the strategy has one. */
    tokensUsed: z.number().exactOptional(),
    tokenBudget: z.number().exactOptional(),
    flags: z
      .array(
        z
          .object({
            /**
             * `failed`: nothing could be retrieved, the turn went on without; `degraded`: a part was missing; `fallback`:
             * another way than the chosen one was taken; `cached`: an earlier answer was given again.
             */
            flag: z.enum(['failed', 'degraded', 'fallback', 'cached']),
            /** One line. */
            reason: z.string(),
          })
          .readonly(),
      )
      .readonly(),
    /** Steps of the strategy, for a reader: hints, tiers, paths taken; no texts of memories. */
    details: z.record(z.string(), z.unknown()).readonly(),
  })
  .readonly();

export type RetrievalRecord = z.output<typeof retrievalRecord>;

/** A memory that was retrieved for a turn. */
export const retrievedMemory = z
  .object({
    memoryId: z.string(),
    content: z.string(),
    score: z.number(),
    /** From 1. */
    rank: z.number(),
    /** Stands in the sequence. */
    kept: z.boolean(),
    /** Answers the question, by the data set. */
    evidence: z.boolean(),
  })
  .readonly();

export type RetrievedMemory = z.output<typeof retrievedMemory>;
