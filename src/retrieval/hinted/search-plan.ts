import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import type { RetrievalHints } from './pre-retrieval/query-record.ts';

/** Tiers by age: the newest ten memories, the fifty before them, the rest; and the persona, across all ages. */
export const memoryTiers = ['short', 'mid', 'long', 'persona'] as const;
export type MemoryTier = (typeof memoryTiers)[number];

/** Plan of a search in a hierarchical memory. */
export interface SearchPlan {
  readonly tiers: readonly MemoryTier[];
  /** Most links between a hit and a memory; 0 for hits only. */
  readonly linkDepth: number;
  /** Of memories with similar scores, those of this tier come first. */
  readonly preferredTier?: MemoryTier | undefined;
  readonly includePersona: boolean;
}

const MOST_LINKS = 5;
const tierNames: Readonly<Record<string, MemoryTier>> = { stm: 'short', mtm: 'mid', ltm: 'long', persona: 'persona' };

/** Known parameters; others are ignored. */
const paramsSchema = z.looseObject({
  search_depth: z.int().min(0).max(MOST_LINKS).optional(),
  expand_links: z.boolean().optional(),
  time_range: z.literal('recent').optional(),
  include_persona: z.boolean().optional(),
  tier_preference: z.enum(['stm', 'mtm', 'ltm', 'persona']).optional(),
});

/**
 * Converts hints to a plan: `deep_search` reads all tiers and follows links, `temporal_search` reads the short term only,
 * `persona_search` the persona; unknown labels, and none, read all tiers by meaning. Of several labels, the first in this
 * order counts.
 * @throws BenchError `bad-option` for a parameter with an invalid value
 */
export function planSearch({ strategies, params }: Pick<RetrievalHints, 'strategies' | 'params'>): SearchPlan {
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new BenchError(
      'bad-option',
      `retrieval_hints.params.${path.join('.')}: ${message}`,
      'correct the keyword rule',
    );
  }
  const { search_depth = 1, expand_links, time_range, include_persona = true, tier_preference } = parsed.data;
  const common = {
    includePersona: include_persona,
    preferredTier: tier_preference === undefined ? undefined : tierNames[tier_preference],
  };
  const links = (byDefault: boolean): number => ((expand_links ?? byDefault) ? search_depth : 0);
  if (strategies.includes('deep_search')) return { ...common, tiers: memoryTiers, linkDepth: links(true) };
  if (strategies.includes('temporal_search')) return { ...common, tiers: ['short'], linkDepth: links(false) };
  if (strategies.includes('persona_search')) return { ...common, tiers: ['persona'], linkDepth: links(false) };
  const tiers = time_range === 'recent' ? (['short'] as const) : memoryTiers;
  return { ...common, tiers, linkDepth: links(false) };
}
