import { z } from 'zod';
import { list, object } from '../schemas.ts';
import { estimate, lowerBound, upperBound } from './estimate.ts';

/** Kinds of methods, by what each saves, or spends to win quality back. */
const methodKind = z.enum(['reference', 'made', 'recomputed', 'evicted', 'quantised']);

const paired = {
  delta: z.number(),
  /** 95 % interval over users. */
  low: lowerBound,
  high: upperBound,
  n: z.number(),
  users: z.number(),
};

/** The place of the evidence among the retrieved, where it was retrieved: that of the memory which came last. */
export const evidenceRanks = ['first', 'second', 'later'] as const;

/** One arm of the suite `methods`: a method at a budget, beside the text and beside tokens drawn at random. */
export const methodResults = object({
  arm: z.string(),
  /** The name without its budget. */
  method: z.string(),
  kind: methodKind,
  /** As the name spells it: the share of tokens that is recomputed or dropped, tokens of each block, the type of the store. */
  budget: z.string().nullable(),
  /** KV as it is kept, for each token of the memory lines, the header apart; null where nothing is kept. */
  bytesPerMemoryToken: z.number().nullable(),
  /** Means a turn, over the turns of the columns of cost: what was evaluated again, and of it what the rule asked for. */
  recomputedTokens: z.number(),
  selectedTokens: z.number().nullable(),
  /** Time to first token ÷ that of the primary arm less its `kvLoad`, geometric mean over pairs; null without a cache hit. */
  timesQueryOnly: estimate.nullable(),
  /** The primary metric less that of as many tokens drawn at random; null where no such arm ran, and for that arm itself. */
  againstRandom: object({
    b: z.string(),
    ...paired,
    wins: z.number(),
    losses: z.number(),
    ties: z.number(),
    /** Two-sided, sign-flip over users, and over the family of all methods (Holm); null for a bound that nobody can deploy. */
    p: z.number().nullable(),
    pAdjusted: z.number().nullable(),
    outcome: z.enum(['better', 'worse', 'undecided', 'too few users', 'not tested']),
  }).nullable(),
  /** The primary metric by the retriever's rank of the evidence, and less that of the baseline; without ranks that no item has. */
  byRank: list(
    object({
      rank: z.enum(evidenceRanks),
      quality: estimate,
      /** Null for the baseline, and without it. */
      difference: object(paired).nullable(),
    }),
  ),
});

export type EvidenceRank = (typeof evidenceRanks)[number];
export type MethodResults = z.output<typeof methodResults>;
