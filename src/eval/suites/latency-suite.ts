import type { Suite } from '../run/suite.ts';

/** Table 5. */
export const latencySuite: Suite = {
  name: 'latency',
  question: 'cache misses against hits, where the time to first token goes, and from which turn on K/V pays',
  arms: [
    'rag',
    'rag-cached',
    'dki',
    'dki-resident',
    'dki-blocks',
    'dki-blocks@built=ahead',
    'dki-link:4',
    'dki-parallel',
    'rag-twin',
  ],
  defaults: { limit: 200, repeats: 2 },
  timesAreResults: true,
};
