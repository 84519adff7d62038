import { z } from 'zod';
import { kvStores, profile } from './run-description.ts';
import { engineAudit, isolationProbe, runProbes } from './run-probes.ts';
import { list, object } from './schemas.ts';

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

const rows = list(z.record(z.string(), z.unknown()).readonly());

/** The state of a worker when a unit was done, over all that it has done. */
const workerState = {
  /** Books since the unit before; counts so far. */
  share: userShare,
  load: runProbes.unwrap().shape.load.unwrap(),
  audit: engineAudit.exactOptional(),
};

/** Results of a user whose questions were all asked: what their rows in a database hold, and nothing of the run. */
export const userBundle = object({
  userId: z.string(),
  turns: rows,
  sessions: list(object({ id: z.string(), createdAt: z.number() })),
  /** As columns; a vector is float32, little-endian, in base64. */
  memories: rows,
  userPreferences: rows,
  conversations: rows,
  auditLogs: rows,
  /** Texts of the tokens of the prompts, by id. */
  pieces: list(z.tuple([z.number(), z.string()]).readonly()),
  ...workerState,
});

/** Results of the isolation probe, which a run makes once. */
export const isolationBundle = object({ isolation: isolationProbe.nullable(), ...workerState });

export type UserBundle = z.output<typeof userBundle>;
export type IsolationBundle = z.output<typeof isolationBundle>;
