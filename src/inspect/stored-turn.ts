import { z } from 'zod';
import { BenchError } from '../config/bench-error.ts';
import type { TurnRow } from '../db/schema.ts';

const segment = z.object({
  role: z.string(),
  text: z.string(),
  memoryId: z.string().exactOptional(),
  tokenIds: z.array(z.number()),
  origin: z.enum(['evaluated', 'injected']),
});

const budget = z.object({
  windowTokens: z.number(),
  reserveTokens: z.number(),
  fixedTokens: z.number(),
  memoryLimitTokens: z.number(),
  memoryTokens: z.number(),
  historyTokens: z.number(),
  freeTokens: z.number(),
  dropped: z.array(z.object({ part: z.string(), id: z.string(), tokens: z.number(), rule: z.string() })),
  forced: z.boolean(),
  warnings: z.array(z.string()),
});

const recalledMemory = z.object({
  memoryId: z.string(),
  content: z.string(),
  score: z.number(),
  rank: z.number(),
  kept: z.boolean(),
  evidence: z.boolean(),
});

const turnEvidence = z.object({
  reuse: z.enum(['new', 'seen', 'none']),
  expectedEvaluatedTokens: z.number(),
  sequenceSha256: z.string(),
  firstForeignToken: z.number().nullable(),
  /** Blocks share positions, of which llama.cpp gives back one id each. */
  sharesPositions: z.boolean().exactOptional(),
  goldLogProbability: z.number().nullable(),
  parity: z.object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
  nextTokens: z.array(z.object({ token: z.string(), probability: z.number() })),
});

const answeredColumns = z.object({
  promptInfo: z.object({ originalQuery: z.string(), segments: z.array(segment), budget }),
  timings: z.record(z.string(), z.number()),
  tokens: z.object({
    prompt: z.number(),
    kvResident: z.number(),
    evaluated: z.number(),
    generated: z.number(),
    positions: z.number(),
  }),
  scores: z.object({
    exactMatch: z.number().nullable(),
    abstention: z.number().nullable(),
    taskSuccess: z.number().nullable(),
    wrongClass: z.string().nullable(),
    failedStage: z.string().nullable(),
    evidence: turnEvidence,
    item: z.object({
      /** The right answer; null where only abstaining is right. */
      gold: z.string().nullable(),
      category: z.string(),
      phrasing: z.string(),
      userKind: z.string(),
    }),
  }),
  memories: z.array(recalledMemory),
});

/** Which turn of a run it is. */
interface TurnIdentity {
  readonly itemId: string;
  readonly userId: string;
  readonly arm: string;
  readonly repeat: number;
  readonly turn: number;
}

/** A turn that gave an answer, with all that the model was given for it. */
export interface AnsweredTurn extends TurnIdentity, Readonly<z.output<typeof answeredColumns>> {
  readonly state: 'answered';
  readonly answer: string;
  /** Why no score of the answer may be shown, all of them null then; null where they may. */
  readonly unknownQuality: string | null;
}

/** A turn that failed, and why. */
export interface FailedTurn extends TurnIdentity {
  readonly state: 'failed';
  readonly error: string;
}

/** A turn as the inspector shows it. */
export type InspectedTurn = AnsweredTurn | FailedTurn;

/**
 * Reads a row of the database.
 *
 * @param unknownQuality why nothing can be said of the quality of the run's answers; null where something can
 * @throws BenchError `database` where the row does not hold what the runner of this release writes
 */
export function inspectedTurn(row: TurnRow, unknownQuality: string | null = null): InspectedTurn {
  const { itemId, userId, arm, repeat, turn, answer } = row;
  const identity = { itemId, userId, arm, repeat, turn };
  if (row.error !== null) return { ...identity, state: 'failed', error: row.error };
  const columns = answeredColumns.safeParse(row);
  if (columns.success) {
    const turn: AnsweredTurn = { ...identity, ...columns.data, state: 'answered', answer, unknownQuality };
    return unknownQuality === null ? turn : { ...turn, scores: withoutQuality(turn.scores) };
  }
  const [issue] = columns.error.issues;
  throw new BenchError(
    'database',
    `the turn of item ${itemId}, arm ${arm} cannot be read: ${issue!.path.join('.')}: ${issue!.message}`,
    'it was written by another release; run the bench again with this one',
    columns.error,
  );
}

function withoutQuality(scores: AnsweredTurn['scores']): AnsweredTurn['scores'] {
  return {
    ...scores,
    exactMatch: null,
    abstention: null,
    taskSuccess: null,
    wrongClass: null,
    failedStage: scores.failedStage === 'answered' ? null : scores.failedStage,
    evidence: { ...scores.evidence, goldLogProbability: null },
  };
}
