import { coreferenceData } from '../synthesis/coreference-data.ts';
import { joinedArms } from './joined-arms.ts';
import type { Suite } from './suite.ts';

/** Table 10: memories that cannot be understood alone, which is where blocks that never saw each other should lose. */
export const coreferenceSuite: Suite = {
  name: 'coreference',
  question: 'memories that say "she" of whom the one before names: what blocks lose that have not seen each other',
  arms: joinedArms,
  data: coreferenceData,
  // As many as a user has, so that nothing hangs on the recall.
  defaults: { topK: 5 },
};
