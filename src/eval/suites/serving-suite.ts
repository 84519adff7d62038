import { measureServing } from '../run/measure/serving/measure-serving.ts';
import type { Suite } from '../run/suite.ts';

/** Table 12. */
export const servingSuite: Suite = {
  name: 'serving',
  question:
    'time to first token of conversations that arrive at planned times, by rate, up to more than the arms can serve',
  arms: ['rag', 'rag-cached', 'dki', 'dki-blocks'],
  defaults: { limit: 100 },
  measure: async (room) => ({ serving: await measureServing(room) }),
  timesAreResults: true,
};
