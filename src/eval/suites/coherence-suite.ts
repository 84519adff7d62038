import { coherenceData } from '../synthesis/coherence-data.ts';
import type { Suite } from './suite.ts';

/** Table 6. */
export const coherenceSuite: Suite = {
  name: 'coherence',
  question: 'recall by depth of the conversation, whose history is what the arm itself answered',
  arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel'],
  data: coherenceData,
};
