import type { Suite } from '../run/suite.ts';

const arms = (names: readonly string[], budgets: readonly string[]): string[] =>
  names.flatMap((name) => budgets.map((budget) => `${name}:${budget}`));

const RULES = ['random', 'streaming', 'knorm', 'keydiff', 'lagkv'];
/** Of the tokens that are recomputed; `--arms` takes any other share. */
const SHARES = ['.15', '.3'];

/**
 * Tables 11 and 13: what wins back the quality of joined blocks, what stores less, and at what price. Of each selection the
 * control stands beside it; with all tokens recomputed every rule is the text, so that one of them shows it.
 */
export const methodsSuite: Suite = {
  name: 'methods',
  question: 'recomputing, evicting and quantising K/V at equal budgets, beside tokens drawn at random',
  arms: [
    ...['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-blocks@context=previous', 'dki-parallel', 'dki-link:4'],
    ...arms(['dki-random', 'dki-first', 'dki-random:ranked', 'dki-ranked', 'dki-cacheblend'], SHARES),
    ...arms(['dki-cacheblend-oracle', 'dki-informative', 'dki-query'], SHARES),
    'dki-first:1',
    ...RULES.flatMap((rule) => [`dki-evict-${rule}:.5`, `dki-blocks-evict-${rule}:.5`]),
    ...['dki', 'dki-blocks'].flatMap((arm) => [`${arm}@store=q8_0`, `${arm}@store=q4_0`]),
  ],
  // Of the data that ship, so that a small model answers all of it within three minutes.
  shipped: { limit: 20 },
};
