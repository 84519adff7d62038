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

/** Each memory line as a block of its own, joined behind one copy of the header. */
const joinedBlocks = injected
  .extend({
    strategy: z.union([
      z.literal('blocks'),
      z.literal('parallel'),
      z.literal('link:all'),
      z.templateLiteral(['link:', z.number()]),
    ]),
    header: block.readonly(),
    /** In the order of the sequence; `position` is that of the first token. */
    blocks: z.array(block.extend({ memoryId: z.string(), position: z.number() }).readonly()).readonly(),
    /** Tokens evaluated again at their final place. */
    recomputedTokens: z.number(),
    joinMs: z.number(),
  })
  .readonly();

/** The K/V that a turn injected. */
export const prefillRecord = z.union([exactPrefix, joinedBlocks]);

export type PrefillRecord = z.output<typeof prefillRecord>;
export type KvOrigin = z.output<typeof origin>;
