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

/** Arms that inject KV, from exact to bold, and their control. */
export const injectingArms: readonly ArmDefinition[] = [
  exact(
    injecting(
      'dki',
      {
        comparison: 'primary',
        summary: 'header and retrieved memories as one exact KV prefix, computed once for a set of memories',
        mark: { colour: '#ad420a', shape: 'triangle-up', dash: [12, 3] },
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
        mark: { colour: '#9f8089', shape: 'triangle-left', dash: [12, 3, 2, 3] },
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
      summary: 'each memory as a KV block computed once, blocks joined at contiguous positions, keys re-rotated',
      mark: { colour: '#10774d', shape: 'diamond', dash: [3, 2] },
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
          mark: { colour: '#c40d61', shape: 'triangle-down', dash: [1, 2] },
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
      mark: { colour: '#ab8f68', shape: 'cross', dash: [8, 3, 2, 3] },
    },
    ['cells'],
    () => 'parallel',
  ),
  ...evictingArms,
  injecting(
    'dki-hybrid',
    {
      injects: 'preferences',
      summary: "the user's preferences as KV, all else that is retrieved as text behind them",
      mark: { colour: '#7e8b91', shape: 'bow-tie', dash: [4, 4, 1, 4] },
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
          mark: { colour: '#b86b1a', shape: 'hourglass', dash: [2, 3] },
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
      mark: { colour: '#6b6f71', shape: 'circle', dash: [4, 4] },
    },
    ['checkpoints'],
    () => ({ retrieves: 'donor' }),
  ),
];
