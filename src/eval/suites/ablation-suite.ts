import { joinedArms } from './joined-arms.ts';
import type { Suite } from '../run/suite.ts';

/** Table 3: every part off, or another, in turn. Each prompt template has its own `rag`, which shows the template's own effect. */
export const ablationSuite: Suite = {
  name: 'ablation',
  question:
    'each part off in turn: K/V, exactness, recomputed tokens, positions, placement, labels, template, gating, hybrid, summary',
  arms: [
    ...joinedArms,
    'dki-gated',
    'dki-hybrid',
    'summary',
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
