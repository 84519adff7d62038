import { z } from 'zod';

/** Parameters of a search that are known; others are ignored. */
export const searchParams = z.looseObject({
  /** Links to follow from a hit. Default 1. */
  search_depth: z.int().min(0).max(5).optional(),
  expand_links: z.boolean().optional(),
  time_range: z.literal('recent').optional(),
  /** Default true. */
  include_persona: z.boolean().optional(),
  tier_preference: z.enum(['stm', 'mtm', 'ltm', 'persona']).optional(),
});
