import { contextData } from '../../data/generators/context-data.ts';
import type { Suite } from '../run/suite.ts';

/** Table 2. The budget of half the window for all arms, and all of it, where K/V may fill every cell that is left. */
export const contextSuite: Suite = {
  name: 'context',
  question: 'a fixed window and more and more memories: retrieved, kept, dropped, answered',
  arms: [
    'rag',
    'rag-cached',
    'dki',
    'dki-blocks',
    'dki-parallel',
    'rag@budget=all',
    'dki@budget=all',
    'dki-blocks@budget=all',
    'dki-parallel@budget=all',
  ],
  data: contextData,
  cellsPerPosition: 2,
  defaults: { topK: 1000 },
};
