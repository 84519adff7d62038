import { z } from 'zod';
import { list, numbers, object } from './zod-helpers.ts';

const tokens = z.number().int().nonnegative();
const ids = list(z.string());

/** Measurements of a turn from outside the system that answered. */
export const observed = object({
  /** Memories in the sequence that the arm was to inject; 0 for an arm that injects none. */
  injectableMemories: tokens,
  /** Tokens up to the last of them, by the prompt's segments: the cells that injection must fill, but for evicted ones. */
  injectableTokens: tokens,
  /** The cells that are left of them where the arm evicts, or with shared tokens that it keeps; missing where it does neither. */
  injectableCells: tokens.exactOptional(),
  /** Of these tokens, those behind the last exact cut, which an exact prefix leaves to the suffix; missing where there are none. */
  remainderTokens: tokens.exactOptional(),
  /** sha-256 of the prompt's ids, as the session holds them after the turn. */
  sequenceSha256: z.string(),
  sequenceTokens: tokens,
  /** The first place where the session's ids differ from the prompt's; null where they agree. */
  firstForeignToken: z.number().nullable(),
  /** Sum of ln p over the gold answer's tokens. */
  goldLogProbability: z.number().nullable(),
  /** The terms of that sum, in order. */
  goldTokens: list(object({ token: z.string(), logProbability: z.number() })),
  /** Against the prompt evaluated as text; null for an arm that claims no such equality. */
  parity: object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
  nextTokens: list(object({ token: z.string(), probability: z.number() })),
  /** Mean of ln p over the tokens of its own answer, at their place; null where that was not asked for. */
  freeLogProbability: z.number().nullable(),
  /** Its next token against that of the reference, or of `rag`; null where neither ran. */
  agreement: object({ klDivergence: z.number(), topOne: z.boolean() }).nullable(),
  /**
   * Mean over the gold answer's tokens of the KL divergence of the reference's distribution from its own, in nats; null where
   * neither ran, where the engine gives a part of the distribution, and in turns of older runs.
   */
  goldKl: z.number().nullable().default(null),
  /** The gold stands neither in question, history, system prompt nor in the memories that the arm was shown. */
  closed: z.boolean(),
  /** The answer as the engine generated it; missing in turns of older runs, as all below. */
  answer: object({
    /** Of its ids; null where the engine generated nothing in the turn. */
    sha256: z.string().nullable(),
    /** The system gave these ids and this text, and no others. */
    asGenerated: z.boolean(),
    /** ln p of the likeliest first token less that of the one that came; null where the engine does not give it. */
    shortfall: z.number().nullable(),
  }).exactOptional(),
  /** The memories of the prompt beside those that the arm was given; lists are of ids. */
  memories: object({
    given: tokens,
    shown: tokens,
    /** Shown and not given, or more often than given. */
    foreign: ids,
    /** Shown in other words. */
    altered: ids,
    /** Given, and neither shown nor dropped. */
    missing: ids,
    /** Dropped though there was space. */
    hidden: ids,
    /** Of the user, in a part of the prompt that is for other things. */
    elsewhere: ids,
    /** Shown memories that are the asker's own. */
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
  /** Times of the turn's call, read beside `timings`, in ms: by a second stopwatch, and by the engine itself. */
  watch: object({
    firstToken: z.number().nullable(),
    total: z.number(),
    /** Of the whole call, by a stopwatch outside the recorder's own. */
    outer: z.number(),
    /** The retrieval that was made for the item. */
    retrieval: z.number(),
    /** From the engine's last call for an answer to its first token. */
    engine: z.number().nullable(),
  }).exactOptional(),
  /** The question as the retriever was asked it. */
  retrieverQuery: z.string().exactOptional(),
  /** What the arm was given are the memories that the retriever found, in its order. */
  asRetrieved: z.boolean().exactOptional(),
  /** Calls of the system for this turn; 1 unless it was asked again. */
  tries: tokens.exactOptional(),
  /** Tokens that the engine evaluated for the arm between its turns. */
  aheadTokens: tokens.exactOptional(),
  /** Tokens of the prompt that an earlier one of the same arm and user begins with, up to where a cached prefix may end. */
  sharedTokens: tokens.exactOptional(),
  /** By the runner's clock: milliseconds before the first token that the system spent in no call of engine, store or memories. */
  ownMs: z.number().exactOptional(),
  /** Of the sample that is proven anew: the answer, generated again from the KV that the turn left, is the same. */
  sameAgain: z.boolean().exactOptional(),
  /** Of that sample, where KV was injected: the first thing in which its cells are not what they must be; null where they are. */
  wrongCells: z.string().nullable().exactOptional(),
});

export type TurnObservation = z.output<typeof observed>;
