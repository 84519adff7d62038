import type { Suite } from '../run/suite.ts';

/** Table 9. Every run plants secrets and asks for them; this one does so for every prefill strategy. */
export const isolationSuite: Suite = {
  name: 'isolation',
  question: 'whose secret comes out for whom, user by user',
  arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel', 'dki-hybrid', 'dki-gated'],
  defaults: { limit: 24 },
};
