import { measureStorage } from '../run/measure/storage.ts';
import type { Suite } from '../run/suite.ts';

/** Table 8. */
export const storageSuite: Suite = {
  name: 'storage',
  question: 'bytes a memory token by K/V type and tier, against the text, and what saving and loading takes',
  arms: ['rag', 'dki', 'dki-blocks'],
  defaults: { limit: 24 },
  requires: ['checkpoints', 'cells'],
  measure: async (room) => ({ storage: await measureStorage(room) }),
  timesAreResults: true,
};
