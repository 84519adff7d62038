import { coreferenceData } from '../../data/generators/coreference-data.ts';
import { joinedArms } from './joined-arms.ts';
import type { Suite } from '../run/suite.ts';

/** Table 10: memories that cannot be understood alone, which is where blocks that never saw each other should lose. */
export const coreferenceSuite: Suite = {
  name: 'coreference',
  question: 'memories that say "she" of whom the one before names: what blocks lose that have not seen each other',
  arms: joinedArms,
  data: coreferenceData,
  // As many as a user has, so that nothing depends on retrieval.
  defaults: { topK: 5 },
};
