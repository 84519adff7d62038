import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import type { RetrievalHints } from './pre-retrieval/pre-retrieval-types.ts';

/** Tiers by age: the newest ten memories, the fifty before them, the rest; and the persona, across all ages. */
export const memoryTiers = ['short', 'mid', 'long', 'persona'] as const;
export type MemoryTier = (typeof memoryTiers)[number];

/** Plan of a search. `linkDepth`: links to follow from a hit, 0 for none; `preferredTier`: its memories get a bonus. */
export type SearchPlan = ReturnType<typeof planSearch>;

const tierNames = { stm: 'short', mtm: 'mid', ltm: 'long', persona: 'persona' } as const;

/** Known parameters; others are ignored. */
const paramsSchema = z.looseObject({
  search_depth: z.int().min(0).max(5).default(1),
  expand_links: z.boolean().optional(),
  time_range: z.literal('recent').optional(),
  include_persona: z.boolean().default(true),
  tier_preference: z.enum(['stm', 'mtm', 'ltm', 'persona']).optional(),
});

/**
 * Converts hints to a plan. The first of these labels counts: `deep_search` reads all tiers, and follows links unless
 * `expand_links` is false; `temporal_search` reads the short-term tier; `persona_search` the persona. Without one of them, the
 * plan reads the short-term tier if `time_range` is `recent`, else all tiers.
 * @throws BenchError `bad-option` for a parameter with an invalid value
 */
export function planSearch({ strategies, params }: Pick<RetrievalHints, 'strategies' | 'params'>) {
  const { data, error } = paramsSchema.safeParse(params);
  if (error !== undefined) {
    const { path, message } = error.issues[0]!;
    const place = `retrieval_hints.params.${path.join('.')}`;
    throw new BenchError('bad-option', `${place}: ${message}`, 'correct the keyword rule');
  }
  const label = ['deep_search', 'temporal_search', 'persona_search'].find((known) => strategies.includes(known));
  const isRecent = label === 'temporal_search' || (label === undefined && data.time_range === 'recent');
  const tiers: readonly MemoryTier[] = label === 'persona_search' ? ['persona'] : isRecent ? ['short'] : memoryTiers;
  return {
    tiers,
    linkDepth: (data.expand_links ?? label === 'deep_search') ? data.search_depth : 0,
    includePersona: data.include_persona,
    preferredTier: data.tier_preference && tierNames[data.tier_preference],
  };
}
