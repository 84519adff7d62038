import type { RecipeName } from '../prefill/join-recipe.ts';
import type { ArmDefinition } from './arm-definition.ts';
import { evictingArms } from './evicting-arms.ts';
import { injecting, joining } from './injecting-arm.ts';
import { selectingArms } from './selecting-arms.ts';

/** An arm whose values a gate scales in each turn by what it finds. */
function scaledByTurn(definition: ArmDefinition): ArmDefinition {
  return {
    ...definition,
    traits: (...asked) => {
      const { alpha: _, ...traits } = definition.traits(...asked);
      return traits;
    },
  };
}

/** An arm whose sequence is bitwise that of text while its values are not scaled. */
function exact(definition: ArmDefinition): ArmDefinition {
  return {
    ...definition,
    traits: (argument, alpha, blocks) => ({
      ...definition.traits(argument, alpha, blocks),
      equivalence: alpha === 1 ? 'bitwise' : 'tokens',
    }),
  };
}

/** An arm whose quality is tested with one argument, planned before anything was measured. */
function planned(planned: string, definition: ArmDefinition): ArmDefinition {
  return {
    ...definition,
    traits: (argument, ...asked) => ({
      ...definition.traits(argument, ...asked),
      comparison: argument === planned ? 'planned' : 'exploratory',
    }),
  };
}

/** Arms that inject K/V, from exact to bold, and their control. */
export const injectingArms: readonly ArmDefinition[] = [
  exact(
    injecting(
      'dki',
      {
        comparison: 'primary',
        summary: 'header and retrieved memories as one exact K/V prefix, computed once for a set of memories',
        mark: { colour: '#d95f0e', shape: 'triangle-up', dash: [1, 0] },
      },
      ['checkpoints'],
    ),
  ),
  exact(
    injecting(
      'dki-resident',
      {
        keepsSession: true,
        summary: 'as dki, the prefix left in the session from turn to turn, so that it is not even loaded',
        mark: { colour: '#808080', shape: 'circle', dash: [4, 4] },
      },
      ['checkpoints'],
      () => ({ keepsSession: true }),
    ),
  ),
  joining(
    'dki-blocks',
    {
      equivalence: 'tokens',
      comparison: 'planned',
      summary: 'each memory as a K/V block computed once, blocks joined at contiguous positions, keys re-rotated',
      mark: { colour: '#2b8c4b', shape: 'diamond', dash: [6, 3] },
    },
    ['cells'],
    () => 'blocks',
  ),
  {
    ...planned(
      '4',
      joining(
        'dki-link',
        {
          equivalence: 'tokens',
          summary:
            'as dki-blocks, the first K tokens (or all) of every block recomputed in sight of what precedes it (LegoLink)',
          mark: { colour: '#b8458a', shape: 'triangle-down', dash: [2, 2] },
        },
        ['cells'],
        (argument) => `link:${argument}` as RecipeName,
      ),
    ),
    argument: { example: '4', pattern: /^(\d{1,6}|all)$/ },
  },
  ...selectingArms,
  joining(
    'dki-parallel',
    {
      comparison: 'planned',
      summary: 'as dki-blocks, all blocks at the same positions (parallel encoding)',
      mark: { colour: '#9c7c14', shape: 'cross', dash: [8, 3, 2, 3] },
    },
    ['cells'],
    () => 'parallel',
  ),
  ...evictingArms,
  injecting(
    'dki-hybrid',
    {
      injects: 'preferences',
      summary: "the user's preferences as K/V, all else that is retrieved as text behind them",
      mark: { colour: '#8a63d2', shape: 'triangle-right', dash: [4, 2] },
    },
    ['checkpoints'],
    () => ({ preferencesOnly: true }),
  ),
  {
    ...scaledByTurn(
      injecting(
        'dki-gated',
        {
          summary: 'as dki, injecting only if retrieval is relevant enough, with α by relevance and uncertainty',
          mark: { colour: '#c0504d', shape: 'triangle-left', dash: [2, 3] },
        },
        ['checkpoints', 'cells', 'fullDistribution'],
        ({ gatingThreshold }) => ({ gating: { kind: 'dual-factor', threshold: gatingThreshold } }),
      ),
    ),
    gated: true,
  },
  injecting(
    'dki-wrong',
    {
      retrieves: 'donor',
      control: 'negative',
      summary: "as dki, with another user's memories in place of those retrieved: a control that must not answer",
      mark: { colour: '#808080', shape: 'circle', dash: [4, 4] },
    },
    ['checkpoints'],
    () => ({ retrieves: 'donor' }),
  ),
];
