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
  // All 400 would take more than three minutes on two slow cores.
  shippedLimit: 300,
};
