import { scalingData } from '../../data/generators/scaling-data.ts';
import type { Suite } from '../run/suite.ts';

/** Figures F1 to F3. */
export const scalingSuite: Suite = {
  name: 'scaling',
  question: 'quality and time to first token by number of memories, the evidence rotated over positions',
  arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel', 'rag-twin'],
  data: scalingData,
  defaults: { topK: 1000 },
  timesAreResults: true,
};
