import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { type RecipeName, SHARE } from '../prefill/join-recipe.ts';
import type { TokenScorer } from '../prefill/select-tokens.ts';
import type { ArmDefinition, OwnTraits } from './arm-definition.ts';
import { joining } from './injecting-arm.ts';

/** An arm that recomputes a share of the memory tokens, which its argument names. */
function selecting(
  by: 'first' | 'random' | 'ranked' | TokenScorer,
  argument: string,
  traits: Pick<OwnTraits, 'summary' | 'mark' | 'deployable'>,
  needs: readonly CapabilityName[] = [],
): ArmDefinition {
  const recipeOf = (share: string | null): RecipeName => `${by}:${share}` as RecipeName;
  return {
    ...joining(`dki-${by}`, { equivalence: 'tokens', ...traits }, ['cells', ...needs], recipeOf),
    argument: { example: '.3', pattern: new RegExp(`^${argument}$`) },
  };
}

/** Of all selections: in a figure of many methods shapes tell them apart, and their control has a colour of its own. */
const colour = '#856773';

/** Arms that recompute a share of the memory tokens, and their control. */
export const selectingArms: readonly ArmDefinition[] = [
  selecting('first', SHARE, {
    summary: 'as dki-blocks, a share of the memory tokens recomputed: the first of every block',
    mark: { colour, shape: 'chevron', dash: [3, 1] },
  }),
  selecting('random', `(ranked:)?${SHARE}`, {
    summary:
      'as dki-first, tokens drawn at random: the control of every selection; ranked:R draws as many as dki-ranked:R',
    mark: { colour: '#928786', shape: 'circle', dash: [1, 2] },
  }),
  selecting('ranked', SHARE, {
    summary: 'as dki-first, whole blocks recomputed: the best retrieved first, at least one, while the share lasts',
    mark: { colour, shape: 'star', dash: [5, 2] },
  }),
  selecting(
    'cacheblend',
    SHARE,
    {
      summary: 'as dki-first, tokens whose KV in the second layer deviates most from a full prefill of it (CacheBlend)',
      mark: { colour, shape: 'hourglass', dash: [6, 2] },
    },
    ['firstLayers'],
  ),
  selecting('cacheblend-oracle', SHARE, {
    deployable: false,
    summary:
      'as dki-first, tokens whose KV deviates most from a full prefill, which no deployment has: a bound (CacheBlend)',
    mark: { colour, shape: 'bow-tie', dash: [1, 3] },
  }),
  selecting(
    'informative',
    SHARE,
    {
      summary:
        'as dki-first, tokens that the words before them in their own block make least likely: those with values',
      mark: { colour, shape: 'pentagon', dash: [2, 4] },
    },
    ['logProbabilities'],
  ),
  selecting(
    'ranked-informative',
    SHARE,
    {
      summary: 'as dki-informative, of the best retrieved block first, then of the next',
      mark: { colour, shape: 'half-disc', dash: [2, 2, 6, 2] },
    },
    ['logProbabilities'],
  ),
  selecting(
    'query',
    SHARE,
    {
      summary: 'as dki-first, tokens that the question attends to most in the middle layer (ProphetKV, in one layer)',
      mark: { colour, shape: 'triangle-left', dash: [7, 2, 2, 2] },
    },
    ['queries'],
  ),
];
