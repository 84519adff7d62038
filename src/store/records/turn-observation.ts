import { z } from 'zod';
import { list, numbers, object } from './zod-helpers.ts';

const tokens = z.number().int().nonnegative();
const ids = list(z.string());

/** Measurements of a turn made by the runner, independently of the answering system. */
export const turnObservation = object({
  /** Memories in the prompt that the arm should inject; 0 for an arm that injects none. */
  injectableMemories: tokens,
  /** Prompt tokens up to the last of these memories: the cells that injection must fill, except evicted ones. */
  injectableTokens: tokens,
  /** Cells that injection must fill if the arm evicts tokens or keeps sink tokens; missing if it does neither. */
  injectableCells: tokens.exactOptional(),
  /** `injectableTokens` after the last exact cut, which are evaluated with the suffix instead; missing if there are none. */
  remainderTokens: tokens.exactOptional(),
  /** SHA-256 of the prompt's token ids, as the session holds them after the turn. */
  sequenceSha256: z.string(),
  sequenceTokens: tokens,
  /** The first index at which the session's token ids differ from the prompt's; null if they agree, and for KV made elsewhere. */
  firstForeignToken: z.number().nullable(),
  /** Sum of ln p over the tokens of the gold answer. */
  goldLogProbability: z.number().nullable(),
  /** The terms of that sum, in order. */
  goldTokens: list(object({ token: z.string(), logProbability: z.number() })),
  /** Mean ln p per token of each nugget of the item, in the place of the gold answer; missing without nuggets. */
  nuggetLogProbabilities: list(z.number()).exactOptional(),
  /** Next-token probabilities against those of the prompt as text; null for an arm that claims no equality. */
  parity: object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
  nextTokens: list(object({ token: z.string(), probability: z.number() })),
  /** Mean ln p over the tokens of the arm's answer; null if it was not measured. */
  freeLogProbability: z.number().nullable(),
  /** Next-token distribution against that of the reference, or of `rag`; null if neither ran. */
  agreement: object({ klDivergence: z.number(), topOne: z.boolean() }).nullable(),
  /**
   * KL divergence of the reference's distribution from the arm's, in nats, mean over the gold answer's tokens. Null if neither
   * reference ran, if the engine gives only a part of the distribution, and in older runs.
   */
  goldKl: z.number().nullable().default(null),
  /** The gold answer is in neither question, history, system prompt nor the memories shown to the arm. */
  closed: z.boolean(),
  /** The answer as the engine generated it. Missing in older runs, like all fields below. */
  answer: object({
    /** Hash of its token ids; null if the engine generated nothing in the turn. */
    sha256: z.string().nullable(),
    /** The system returned exactly these ids and this text. */
    asGenerated: z.boolean(),
    /** ln p of the likeliest first token minus that of the generated one; null if the engine does not report it. */
    shortfall: z.number().nullable(),
  }).exactOptional(),
  /** The memories in the prompt (shown) compared with those given to the arm; lists contain ids. */
  memories: object({
    given: tokens,
    shown: tokens,
    /** Shown but not given, or shown more often than given. */
    foreign: ids,
    /** Shown in other words. */
    altered: ids,
    /** Given, but neither shown nor dropped. */
    missing: ids,
    /** Dropped though there was space. */
    hidden: ids,
    /** Memories of the user in a part of the prompt that is not for memories. */
    elsewhere: ids,
    /** Not where the arm's order places them, for `@order=stable`. Missing in older runs. */
    misplaced: ids.exactOptional(),
    /** Number of shown memories that belong to the asking user. */
    own: tokens,
    holdsGold: z.boolean(),
  }).exactOptional(),
  /** The conditions under which the engine generated the answer. */
  limits: object({
    maxTokens: tokens,
    stopTexts: list(z.string()),
    oneSentence: z.boolean(),
    ...numbers('temperature', 'seed'),
  }).exactOptional(),
  /** Times of the call in ms, measured independently of `timings`: by a second stopwatch, and by the engine. */
  watch: object({
    firstToken: z.number().nullable(),
    total: z.number(),
    /** The whole call, by a stopwatch outside that of the recorder. */
    outer: z.number(),
    /** The retrieval for the item. */
    retrieval: z.number(),
    /** From the engine's last call for an answer to its first token. */
    engine: z.number().nullable(),
  }).exactOptional(),
  /** The query that the retriever received. */
  retrieverQuery: z.string().exactOptional(),
  /** The arm was given exactly the retrieved memories, in their order. */
  asRetrieved: z.boolean().exactOptional(),
  /** Number of calls of the system for this turn; above 1 after retries. */
  tries: tokens.exactOptional(),
  /** Tokens that the engine evaluated for the arm between its turns. */
  aheadTokens: tokens.exactOptional(),
  /** Prompt tokens that also begin an earlier prompt of the same arm and user, up to where a cached prefix can end. */
  sharedTokens: tokens.exactOptional(),
  /** Milliseconds before the first token that the system spent outside calls of engine, store and memories. */
  ownMs: z.number().exactOptional(),
  /** Only for turns sampled for a second test: generating again from the turn's KV gives the same answer. */
  sameAgain: z.boolean().exactOptional(),
  /** For the same sample, if KV was injected: the first fault found in its cells; null if they are correct. */
  wrongCells: z.string().nullable().exactOptional(),
});
export type TurnObservation = z.output<typeof turnObservation>;
