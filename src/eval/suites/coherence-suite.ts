import { coherenceData } from '../../data/generators/coherence-data.ts';
import type { Suite } from '../run/suite.ts';

/** Table 6. */
export const coherenceSuite: Suite = {
  name: 'coherence',
  question: "recall by depth of the conversation; the history holds the arm's own answers",
  arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel'],
  data: coherenceData,
};
