import { z } from 'zod';
import { list, numbers, object } from './zod-helpers.ts';

/** Types in which KV is kept, as ggml names them; `f16` as the engine has it. */
export const quantisedTypes = ['q8_0', 'q4_0'] as const;

export type QuantisedType = (typeof quantisedTypes)[number];

export const storeType = z.enum(['f16', ...quantisedTypes]);

export type StoreType = z.output<typeof storeType>;

/** The making of KV blocks where it is not the default: what each sees while it is computed, and what joining does to it. */
export const blockMaking = object({
  /** A block sees nothing, or the memory before it in the sequence besides the header. Default: the header alone. */
  context: z.enum(['none', 'previous']).exactOptional(),
  /**
   * Tokens that are put in front of every block while it is computed, the first of the prompt; their cells are dropped when
   * blocks are joined, or kept, in front of each. Default: none.
   */
  sink: object({ tokens: z.number().int().positive(), kept: z.boolean() }).exactOptional(),
  /** Divides what queries find in the keys of memories, before the softmax. Default 1. */
  temperature: z.number().positive().exactOptional(),
});

export type BlockMaking = z.output<typeof blockMaking>;

/**
 * Origin of KV: `computed` in this turn, or found in the session itself, in memory, or in the store's folder; an engine may have
 * loaded the last from a copy in memory that it had verified.
 */
const origin = z.enum(['computed', 'resident', 'memory', 'disk']);

const block = z.object({ key: z.string(), tokens: z.number(), origin, computeMs: z.number() });

export const evictionRules = ['random', 'streaming', 'knorm', 'keydiff', 'lagkv'] as const;

/** A rule and the fraction of the memory tokens that it drops: `knorm:.5`. */
export const evictionName = z.union([
  z.templateLiteral([z.enum(evictionRules), ':0']),
  z.templateLiteral([z.enum(evictionRules), ':.', z.number()]),
]);

const injected = z.object({
  /** Multiplies the values of memory cells. */
  alpha: z.number(),
  /** Of all cells that were imported, as they are kept. */
  sizeBytes: z.number(),
  /**
   * Tokens of the memory lines that were injected, and the cells that are not the header's: fewer where tokens were evicted,
   * more where shared ones were kept in front of blocks. Earlier releases did not record them.
   */
  memoryLines: object(numbers('tokens', 'cells')).exactOptional(),
  /** The tokens of the memories that were dropped before their KV was kept; missing where none were. */
  evicted: evictionName.exactOptional(),
  /** The type in which it is kept; missing where that is the engine's own. */
  keptAs: storeType.exactOptional(),
});

/** Header and memory lines as one contiguous prefix. */
const exactPrefix = injected
  .extend({ strategy: z.literal('prefix'), ...block.shape, memoryIds: list(z.string()) })
  .readonly();

/** Rules that select a share of the tokens, single ones or runs of them. */
const tokenRules = [
  'first',
  'random',
  'random:ranked',
  'cacheblend-oracle',
  'cacheblend',
  'informative',
  'query',
  'ranked-informative',
] as const;
const shared = z.enum(['ranked', ...tokenRules]);
const inRuns = z.templateLiteral([z.enum(tokenRules), '/', z.number()]);

/** The way in which blocks are joined, and what of them is recomputed. */
export const joinedStrategy = z.union([
  z.literal('blocks'),
  z.literal('parallel'),
  z.literal('link:all'),
  z.templateLiteral(['link:', z.number()]),
  z.templateLiteral([shared, z.enum([':0', ':1'])]),
  z.templateLiteral([shared, ':.', z.number()]),
  z.templateLiteral([inRuns, z.enum([':0', ':1'])]),
  z.templateLiteral([inRuns, ':.', z.number()]),
]);

/** Each memory line as a block of its own, joined behind one copy of the header. */
const joinedBlocks = injected
  .extend({
    strategy: joinedStrategy,
    /** How the blocks were made, where that is not the default. */
    making: blockMaking.exactOptional(),
    header: block.readonly(),
    /** In the order of the sequence; `position` is that of the first token. */
    blocks: list(block.extend({ memoryId: z.string(), position: z.number() }).readonly()),
    /** Positions whose cells were computed anew, in order and apart; earlier releases did not record them. */
    recomputed: list(object(numbers('start', 'end'))).default([]),
    /** Evaluated for them: more where the engine takes no fewer at once. */
    recomputedTokens: z.number(),
    joinMs: z.number(),
  })
  .readonly();

/** The KV that a turn injected. */
export const prefillRecord = z.union([exactPrefix, joinedBlocks]);

export type PrefillRecord = z.output<typeof prefillRecord>;
export type EvictionRule = (typeof evictionRules)[number];
export type EvictionName = z.output<typeof evictionName>;
export type KvOrigin = z.output<typeof origin>;
