import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/** Measurements of a turn from outside the system that answered. */
export const observed = z
  .object({
    /** Memories in the sequence that the arm was to inject; 0 for an arm that injects none. */
    injectableMemories: tokens,
    /** Tokens up to the last of them, by the prompt's segments: the cells that injection must fill. */
    injectableTokens: tokens,
    /** sha-256 of the prompt's ids, as the session holds them after the turn. */
    sequenceSha256: z.string(),
    sequenceTokens: tokens,
    /** The first place where the session's ids differ from the prompt's; null where they agree. */
    firstForeignToken: z.number().nullable(),
    /** Sum of ln p over the gold answer's tokens. */
    goldLogProbability: z.number().nullable(),
    /** The terms of that sum, in order. */
    goldTokens: z.array(z.object({ token: z.string(), logProbability: z.number() }).readonly()).readonly(),
    /** Against the prompt evaluated as text; null for an arm that claims no such equality. */
    parity: z.object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).readonly().nullable(),
    /** The ten likeliest next tokens. */
    nextTokens: z.array(z.object({ token: z.string(), probability: z.number() }).readonly()).readonly(),
    /** Mean of ln p over the tokens of its own answer, at their place; null where that was not asked for. */
    freeLogProbability: z.number().nullable(),
    /** Its next token against that of the reference, or of `rag`; null where neither ran. */
    agreement: z.object({ klDivergence: z.number(), topOne: z.boolean() }).readonly().nullable(),
    /**
     * Mean over the gold answer's tokens of the KL divergence of the reference's distribution from its own, in nats; null where
     * neither ran, where the engine gives a part of the distribution, and in turns of older runs.
     */
    goldKl: z.number().nullable().default(null),
    /** The gold stands neither in question, history, system prompt nor in the memories that the arm was shown. */
    closed: z.boolean(),
  })
  .readonly();

export type Observed = z.output<typeof observed>;
