import { joinedArms } from './joined-arms.ts';
import type { Suite } from './suite.ts';

/** Table 3: every part off, or another, in turn. Each prompt form has its own `rag`, which says what the form alone does. */
export const ablationSuite: Suite = {
  name: 'ablation',
  question:
    'each part off in turn: K/V, exactness, link tokens, positions, placement, labels, template, gating, hybrid',
  arms: [
    ...joinedArms,
    'dki-gated',
    'dki-hybrid',
    'rag@placement=rank',
    'dki@placement=rank',
    'rag@labels=bullet',
    'dki@labels=bullet',
    'dki-blocks@labels=bullet',
    'dki-parallel@labels=bullet',
  ],
  triesTemplate: ['rag', 'dki', 'dki-blocks'],
  defaults: { limit: 200 },
};
