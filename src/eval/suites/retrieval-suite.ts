import { measureRetrieval } from '../run/measure/retrieval/measure-retrieval.ts';
import type { Suite } from '../run/suite.ts';

/** Tables 7 and 7b: questions made by seed, and those of the data sets; no answer is asked of the language model. */
export const retrievalSuite: Suite = {
  name: 'retrieval',
  question: 'recall@k, MRR, nDCG@10 and time by retrieval strategy and kind of question',
  arms: [],
  measure: async (room) => ({ retrieval: await measureRetrieval(room) }),
};
