import { measureRetrieval } from '../measure/retrieval.ts';
import type { Suite } from '../run/suite.ts';

/** Table 7. Its questions are made by seed; no answer is asked of the language model. */
export const retrievalSuite: Suite = {
  name: 'retrieval',
  question: 'recall@k, MRR, nDCG@10 and time by retrieval strategy and kind of question',
  arms: [],
  measure: async (room) => ({ retrieval: await measureRetrieval(room) }),
};
