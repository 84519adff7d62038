import { z } from 'zod';
import { object } from './schemas.ts';
import { kvStores, profile } from './results/run-description.ts';

const { spent, evaluatedTokens } = profile.unwrap().shape;

/** Times and tokens of a part of a run, by what they were spent on. */
export const runBooks = object({
  spent: spent.unwrap(),
  /** Null where the engine does not count them. */
  evaluatedTokens: evaluatedTokens.unwrap(),
  /** Inside the engine. */
  modelMs: z.number(),
  embedderMs: z.number(),
});

/** The counts of a worker over all users whom it asked. */
const workerCounts = object({
  /** Calls outside of turns that were refused, by arm. */
  refusedCalls: z.record(z.string(), z.number()).readonly(),
  /** As the stores count, by arm. */
  kvStores,
  /** As the retriever counts. */
  retriever: z.record(z.string(), z.unknown()).readonly(),
});

/** A worker's report of a user whose questions it has asked; `counts` are its own by then. */
export const userShare = object({ books: runBooks, counts: workerCounts });

export type RunBooks = z.output<typeof runBooks>;
export type WorkerCounts = z.output<typeof workerCounts>;
export type UserShare = z.output<typeof userShare>;
