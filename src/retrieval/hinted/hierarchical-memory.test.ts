import { expect, test } from 'vitest';
import { memoryTiers, planSearch } from './hierarchical-memory.ts';

test.each([
  [['deep_search'], { search_depth: 3, expand_links: true }, { tiers: memoryTiers, linkDepth: 3 }],
  [['deep_search'], {}, { tiers: memoryTiers, linkDepth: 1 }],
  [['deep_search'], { expand_links: false }, { linkDepth: 0 }],
  [['temporal_search'], { time_range: 'recent' }, { tiers: ['short'], linkDepth: 0 }],
  [['persona_search'], { include_persona: true }, { tiers: ['persona'], includePersona: true }],
  [['semantic_search'], {}, { tiers: memoryTiers, linkDepth: 0 }],
  [[], {}, { tiers: memoryTiers, linkDepth: 0, includePersona: true }],
  // The documented order, whatever the order of the labels.
  [['temporal_search', 'deep_search'], {}, { tiers: memoryTiers, linkDepth: 1 }],
  [['long_term'], { tier_preference: 'ltm', expand_links: true }, { preferredTier: 'long', linkDepth: 1 }],
  [['anything'], { time_range: 'recent', its_own: [1] }, { tiers: ['short'] }],
  [['anything'], { include_persona: false }, { includePersona: false }],
])('%j with %j', (strategies, params, expected) => {
  expect(planSearch({ strategies, params })).toMatchObject(expected);
});

test.each([
  [{ search_depth: 'deep' }, 'retrieval_hints.params.search_depth'],
  [{ search_depth: 1_000_000 }, 'retrieval_hints.params.search_depth'],
  [{ tier_preference: 'attic' }, 'retrieval_hints.params.tier_preference'],
  [{ time_range: 'always' }, 'retrieval_hints.params.time_range'],
])('a parameter that is not understood is named: %j', (params, message) => {
  expect(() => planSearch({ strategies: ['deep_search'], params })).toThrow(message);
});
