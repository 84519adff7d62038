import { z } from 'zod';
import { kvStores, profile } from './run-description.ts';
import { promptTokenAudit } from './prompt-token-audit.ts';
import { isolationProbe, rereadCounts, runProbes } from './run-probes.ts';
import { list, object } from './zod-helpers.ts';

const { spent, evaluatedTokens } = profile.unwrap().shape;

/** Times and tokens of a part of a run, by purpose. */
const runBooks = object({
  spent: spent.unwrap(),
  /** Null if the engine does not count them. */
  evaluatedTokens: evaluatedTokens.unwrap(),
  /** Time inside the engine. */
  modelMs: z.number(),
  embedderMs: z.number(),
});

const workerCounts = object({
  /** Number of refused calls outside turns, by arm. */
  refusedCalls: z.record(z.string(), z.number()).readonly(),
  kvStores,
  /** The retriever's `stats`. */
  retriever: z.record(z.string(), z.unknown()).readonly(),
  /** Turns compared with the data; missing if that is done after all users are finished. */
  reread: rereadCounts.exactOptional(),
});

/** A worker's report of a finished user; `counts` are totals over all its users so far. */
export const userShare = object({ books: runBooks, counts: workerCounts });

export type RunBooks = z.output<typeof runBooks>;

export const noBooks = {
  spent: { warmUp: 0, turns: 0, scoring: 0, checks: 0, measure: 0 },
  evaluatedTokens: { warmUp: 0, turns: 0, prepared: 0, scoring: 0, checks: 0, measure: 0, unbooked: 0 },
  modelMs: 0,
  embedderMs: 0,
} as const satisfies RunBooks;

export type WorkerCounts = z.output<typeof workerCounts>;
export type UserShare = z.output<typeof userShare>;

const rows = list(z.record(z.string(), z.unknown()).readonly());

/** What a worker reports of itself when a unit is finished. */
const workerState = {
  /** `books` since the previous unit, `counts` since the worker's start. */
  share: userShare,
  load: runProbes.unwrap().shape.load.unwrap(),
  audit: promptTokenAudit.exactOptional(),
};

/** Results of a finished user: all database rows but those of the run. */
export const userBundle = object({
  userId: z.string(),
  turns: rows,
  sessions: list(object({ id: z.string(), createdAt: z.number() })),
  /** By column; a vector is float32, little-endian, in base64. */
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
