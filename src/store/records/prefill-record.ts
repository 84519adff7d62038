import { z } from 'zod';
import { list, numbers, object } from './zod-helpers.ts';

/** Quantised types in which KV can be stored, as ggml names them. */
export const quantisedTypes = ['q8_0', 'q4_0'] as const;
export type QuantisedType = (typeof quantisedTypes)[number];

/** Types in which KV can be stored; `f16`: not quantised, in the engine's own number type. */
export const storeType = z.enum(['f16', ...quantisedTypes]);
export type StoreType = z.output<typeof storeType>;

/** How KV blocks are computed and joined, where that differs from the default. */
export const blockMaking = object({
  /** What a block attends to while it is computed: nothing, or header and previous memory. Default: the header. */
  context: z.enum(['none', 'previous']).exactOptional(),
  /**
   * The first tokens of the prompt are put before every block while it is computed. Joining drops their cells, or keeps them
   * before each block (`kept`). Default: no such tokens.
   */
  sink: object({ tokens: z.number().int().positive(), kept: z.boolean() }).exactOptional(),
  /** Divides the attention logits of memory keys, before the softmax. Default 1. */
  temperature: z.number().positive().exactOptional(),
});
export type BlockMaking = z.output<typeof blockMaking>;

/**
 * Where KV came from: `computed` in this turn, `resident` in the session already, or from `memory` or `disk`, the tiers of the KV
 * store. `disk` also counts if the engine had a verified copy of the file in memory.
 */
const origin = z.enum(['computed', 'resident', 'memory', 'disk']);

const block = z.object({ key: z.string(), tokens: z.number(), origin, computeMs: z.number() });

export const evictionRules = ['random', 'streaming', 'knorm', 'keydiff', 'lagkv', 'snapkv'] as const;

/** A rule and the fraction of the memory tokens that it drops: `knorm:.5`. */
export const evictionName = z.union([
  z.templateLiteral([z.enum(evictionRules), ':0']),
  z.templateLiteral([z.enum(evictionRules), ':.', z.number()]),
]);

const injected = z.object({
  /** Multiplies the values of memory cells. */
  alpha: z.number(),
  /** Stored size of all imported cells. */
  sizeBytes: z.number(),
  /**
   * `tokens` of the injected memory lines, and `cells` imported for them, without the header's: fewer than tokens after eviction,
   * more if blocks keep sink tokens. Missing in older runs.
   */
  memoryLines: object(numbers('tokens', 'cells')).exactOptional(),
  /** Rule and share of the memory tokens that were dropped before their KV was stored; missing without eviction. */
  evicted: evictionName.exactOptional(),
  /** Type in which the KV is stored; missing if it is the engine's own type. */
  keptAs: storeType.exactOptional(),
});

/** Header and memory lines as one contiguous prefix. */
const exactPrefix = injected
  .extend({
    strategy: z.literal('prefix'),
    ...block.shape,
    memoryIds: list(z.string()),
    /** Name of the file from which the cells come, made elsewhere; missing if the bench computed them. */
    file: z.string().exactOptional(),
  })
  .readonly();

/** Rules that select a share of the tokens to recompute: single ones, or stretches of neighbours (`RULE/8:.1`). */
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
const rule = z.union([z.enum(['ranked', ...tokenRules]), z.templateLiteral([z.enum(tokenRules), '/', z.number()])]);

/** How blocks are joined, and which of their tokens are recomputed. */
export const joinedStrategy = z.union([
  z.literal('blocks'),
  z.literal('parallel'),
  z.literal('link:all'),
  z.templateLiteral(['link:', z.number()]),
  z.templateLiteral([rule, z.enum([':0', ':1'])]),
  z.templateLiteral([rule, ':.', z.number()]),
]);

/** Each memory line as a separate block, joined after one copy of the header. */
const joinedBlocks = injected
  .extend({
    strategy: joinedStrategy,
    /** Missing for the default. */
    making: blockMaking.exactOptional(),
    header: block.readonly(),
    /** In the order of the prompt; `position` is that of the first token. */
    blocks: list(
      block
        .extend({
          memoryId: z.string(),
          position: z.number(),
          /** The whole block is joined, although the arm evicts (`@repair`). */
          repaired: z.literal(true).exactOptional(),
        })
        .readonly(),
    ),
    /** Ranges of positions whose cells were recomputed, ascending, with gaps between them; empty in older runs. */
    recomputed: list(object(numbers('start', 'end'))).default([]),
    /** Tokens evaluated for this; more than the ranges hold if the engine cannot evaluate so few at once. */
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
