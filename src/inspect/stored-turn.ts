import { z } from 'zod';
import { BenchError } from '../config/bench-error.ts';
import type { TurnRow } from '../db/schema.ts';
import { storedKv } from './turn/stored-kv.ts';

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
  /** Tokens at a position that another token has as well; missing in rows of releases that did not keep it. */
  sharedTokens: z.number().exactOptional(),
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

const scoredToken = z.object({ token: z.string(), logProbability: z.number() });

const turnEvidence = z.object({
  reuse: z.enum(['new', 'seen', 'none']),
  builtTokens: z.number().exactOptional(),
  linkTokens: z.number().exactOptional(),
  gateTokens: z.number().exactOptional(),
  expectedEvaluatedTokens: z.number(),
  sequenceSha256: z.string(),
  firstForeignToken: z.number().nullable(),
  /** Blocks share positions, of which llama.cpp gives back one id each. */
  sharesPositions: z.boolean().exactOptional(),
  goldLogProbability: z.number().nullable(),
  /** The terms of that sum; missing in rows of releases that did not keep them. */
  goldTokens: z.array(scoredToken).exactOptional(),
  /** Mean of ln p over the tokens of its own answer; null where the suite does not ask for it. */
  freeLogProbability: z.number().nullable().exactOptional(),
  /** Its next token against that of the reference arm. */
  agreement: z.object({ klDivergence: z.number(), topOne: z.boolean() }).nullable().exactOptional(),
  closed: z.boolean().exactOptional(),
  parity: z.object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
  nextTokens: z.array(z.object({ token: z.string(), probability: z.number() })),
});

const milliseconds = z.number();

const timings = z.object({
  retrieve: milliseconds,
  gate: milliseconds,
  assemble: milliseconds,
  kvLoad: milliseconds,
  kvCompute: milliseconds,
  prefill: milliseconds,
  firstToken: milliseconds,
  decode: milliseconds,
  total: milliseconds,
});

/** How the memories were recalled; null for an arm that asked no retriever. */
const retrieval = z.object({
  strategy: z.string(),
  timingsMs: z.object({ embedding: milliseconds, search: milliseconds, ranking: milliseconds }),
  tokensUsed: z.number().exactOptional(),
  tokenBudget: z.number().exactOptional(),
  flags: z.array(z.object({ flag: z.string(), reason: z.string() })),
  details: z.record(z.string(), z.unknown()),
});

const score = z.number().nullable();

const answeredColumns = z.object({
  promptInfo: z.object({
    originalQuery: z.string(),
    historyMessages: z.array(z.object({ role: z.string(), content: z.string() })).exactOptional(),
    segments: z.array(segment),
    budget,
  }),
  timings,
  tokens: z.object({
    prompt: z.number(),
    kvResident: z.number(),
    evaluated: z.number(),
    generated: z.number(),
    positions: z.number(),
  }),
  scores: z.object({
    exactMatch: score,
    tokenF1: score.exactOptional(),
    memoryRecall: score.exactOptional(),
    rougeL: score.exactOptional(),
    bleu: score.exactOptional(),
    abstention: score,
    taskSuccess: score,
    wrongClass: z.string().nullable(),
    failedStage: z.string().nullable(),
    /** In order, up to the first failure; none where abstaining is right. */
    passedStages: z.array(z.string()).exactOptional(),
    recallRank: z.number().nullable().exactOptional(),
    evidence: turnEvidence,
    retrieval: retrieval.nullable().exactOptional(),
    item: z.object({
      /** The right answer; null where only abstaining is right. */
      gold: z.string().nullable(),
      category: z.string(),
      phrasing: z.string(),
      userKind: z.string(),
      /** Of the user, where those of the run speak several. */
      language: z.string().exactOptional(),
      /** Memories that the user had when asked, and how many of them are the evidence. */
      memories: z.number().exactOptional(),
      evidence: z.number().exactOptional(),
    }),
  }),
  memories: z.array(recalledMemory),
  kv: storedKv,
});

export type Segment = z.output<typeof segment>;

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
    tokenF1: null,
    memoryRecall: null,
    rougeL: null,
    bleu: null,
    abstention: null,
    taskSuccess: null,
    wrongClass: null,
    failedStage: scores.failedStage === 'answered' ? null : scores.failedStage,
    ...(scores.passedStages === undefined
      ? {}
      : { passedStages: scores.passedStages.filter((stage) => stage !== 'answered') }),
    evidence: {
      ...scores.evidence,
      goldLogProbability: null,
      goldTokens: [],
      freeLogProbability: null,
      agreement: null,
    },
  };
}
