import { z } from 'zod';

/** Origin of K/V: `computed` in this turn, or found in the session itself, in memory, or on disk. */
const origin = z.enum(['computed', 'resident', 'memory', 'disk']);

const block = z.object({ key: z.string(), tokens: z.number(), origin, computeMs: z.number() });

const injected = z.object({
  /** Multiplies the values of memory cells. */
  alpha: z.number(),
  /** Of all cells that were imported. */
  sizeBytes: z.number(),
});

/** Header and memory lines as one contiguous prefix. */
const exactPrefix = injected
  .extend({ strategy: z.literal('prefix'), ...block.shape, memoryIds: z.array(z.string()).readonly() })
  .readonly();

/** Selections of recomputed tokens by a share of them. */
const shareSelection = z.enum([
  ...(['first:', 'random:', 'random:ranked:', 'ranked:'] as const),
  ...(['cacheblend-oracle:', 'cacheblend:', 'informative:', 'query:'] as const),
]);

/** The way in which blocks are joined, and what of them is recomputed. */
export const joinedStrategy = z.union([
  z.literal('blocks'),
  z.literal('parallel'),
  z.literal('link:all'),
  z.templateLiteral(['link:', z.number()]),
  z.templateLiteral([shareSelection, z.enum(['0', '1'])]),
  z.templateLiteral([shareSelection, '.', z.number()]),
]);

/** Each memory line as a block of its own, joined behind one copy of the header. */
const joinedBlocks = injected
  .extend({
    strategy: joinedStrategy,
    header: block.readonly(),
    /** In the order of the sequence; `position` is that of the first token. */
    blocks: z.array(block.extend({ memoryId: z.string(), position: z.number() }).readonly()).readonly(),
    /** Positions whose cells were computed anew, in order and apart; earlier releases did not record them. */
    recomputed: z
      .array(z.object({ start: z.number(), end: z.number() }).readonly())
      .readonly()
      .default([]),
    /** Evaluated for them: more where the engine takes no fewer at once. */
    recomputedTokens: z.number(),
    joinMs: z.number(),
  })
  .readonly();

/** The K/V that a turn injected. */
export const prefillRecord = z.union([exactPrefix, joinedBlocks]);

export type PrefillRecord = z.output<typeof prefillRecord>;
export type KvOrigin = z.output<typeof origin>;
