import { withSetting } from '../../systems/arms/arm-name.ts';
import type { Suite } from '../run/suite.ts';

/** The factors of the DKI paper. */
const ALPHAS = [0, 0.2, 0.4, 0.5, 0.6, 0.8, 1, 1.2];

/** Table 4. */
export const alphaSuite: Suite = {
  name: 'alpha',
  question: 'recall and fluency by the factor α of injected values',
  arms: ['rag', ...ALPHAS.map((alpha) => withSetting('dki', 'alpha', alpha))],
  defaults: { limit: 200 },
  scoresAnswers: true,
};
