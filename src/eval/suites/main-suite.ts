import type { Suite } from '../run/suite.ts';

/** Table 1 and 1b. */
export const mainSuite: Suite = {
  name: 'main',
  question: 'quality, tokens and latency by arm; wrong answers by class, the funnel',
  arms: [
    'none',
    'oracle',
    'full',
    'rag',
    'rag-cached',
    'dki',
    'dki-blocks',
    'dki-link:4',
    'dki-parallel',
    'rag-twin',
    'dki-wrong',
  ],
  // Within a minute on two cores; of few users' many questions intervals would be wider.
  shipped: { limit: 100, users: 20 },
};
