import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { DKISystem, type DKISystemParts } from '../dki-system.ts';
import { type RecipeName, recipeNamed, SHARE } from '../prefill/join-recipe.ts';
import type { TokenMeasure } from '../prefill/select-tokens.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';

type Difference = Partial<Omit<DKISystemParts, keyof ArmParts>>;

/** An arm that injects; `of` gives what sets it apart from the others. */
function injecting(
  name: string,
  traits: Pick<OwnTraits, 'summary' | 'mark'> & Partial<OwnTraits>,
  needs: readonly CapabilityName[],
  of: (parts: ArmParts, argument: string | null) => Difference = () => ({}),
): ArmDefinition {
  return {
    name,
    traits: (_, alpha) => ({
      retrieves: 'retrieved',
      injects: 'memories',
      prefill: 'prefix',
      alpha,
      equivalence: 'none',
      control: null,
      comparison: 'exploratory',
      keepsSession: false,
      ...traits,
    }),
    // Scaled values are edited cells.
    requires: (_, alpha) => (alpha === 1 || needs.includes('cells') ? needs : [...needs, 'cells']),
    open: (parts, argument) => new DKISystem({ ...parts, ...of(parts, argument) }),
  };
}

/** An arm that joins blocks by a recipe, which its argument may name. */
function joining(
  name: string,
  traits: Parameters<typeof injecting>[1],
  needs: readonly CapabilityName[],
  recipeOf: (argument: string | null) => RecipeName,
  difference: Difference = {},
): ArmDefinition {
  const definition = injecting(name, traits, needs, (_, argument) => ({
    ...difference,
    prefill: recipeNamed(recipeOf(argument)),
  }));
  return {
    ...definition,
    traits: (argument, alpha) => ({ ...definition.traits(argument, alpha), prefill: recipeOf(argument) }),
  };
}

/** An arm that recomputes a share of the memory tokens, which its argument names. */
function selecting(
  by: 'first' | 'random' | 'ranked' | TokenMeasure,
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
    traits: (argument, alpha) => ({
      ...definition.traits(argument, alpha),
      equivalence: alpha === 1 ? 'bitwise' : 'tokens',
    }),
  };
}

/** An arm whose quality is tested with one argument, planned before anything was measured. */
function planned(planned: string, definition: ArmDefinition): ArmDefinition {
  return {
    ...definition,
    traits: (argument, alpha) => ({
      ...definition.traits(argument, alpha),
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
  joining(
    'dki-blocks+ahead',
    {
      equivalence: 'tokens',
      summary: 'as dki-blocks, each block computed when its memory is added, and charged there',
      mark: { colour: '#5d8a1f', shape: 'triangle-right', dash: [10, 3] },
    },
    ['cells'],
    () => 'blocks',
    { ahead: true },
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
  selecting('first', SHARE, {
    summary: 'as dki-blocks, a share of the memory tokens recomputed: the first of every block',
    mark: { colour: '#7f5aa2', shape: 'triangle-left', dash: [3, 1] },
  }),
  selecting('random', `(ranked:)?${SHARE}`, {
    summary:
      'as dki-first, tokens drawn at random: the control of every selection; ranked:R draws as many as dki-ranked:R',
    mark: { colour: '#6b6b6b', shape: 'square', dash: [1, 2] },
  }),
  selecting('ranked', SHARE, {
    summary: 'as dki-first, whole blocks recomputed: the best retrieved first, at least one, while the share lasts',
    mark: { colour: '#2f6f9f', shape: 'triangle-up', dash: [5, 2] },
  }),
  selecting(
    'cacheblend',
    SHARE,
    {
      summary:
        'as dki-first, tokens whose K/V in the second layer deviates most from a full prefill of it (CacheBlend)',
      mark: { colour: '#b5651d', shape: 'cross', dash: [6, 2] },
    },
    ['firstLayers'],
  ),
  selecting('cacheblend-oracle', SHARE, {
    deployable: false,
    summary:
      'as dki-first, tokens whose K/V deviates most from a full prefill, which no deployment has: a bound (CacheBlend)',
    mark: { colour: '#9a5a3c', shape: 'cross', dash: [1, 3] },
  }),
  selecting(
    'informative',
    SHARE,
    {
      summary:
        'as dki-first, tokens that the words before them in their own block make least likely: those with values',
      mark: { colour: '#4f8f7b', shape: 'diamond', dash: [2, 4] },
    },
    ['logProbabilities'],
  ),
  selecting(
    'query',
    SHARE,
    {
      summary: 'as dki-first, tokens that the question attends to most in the middle layer (ProphetKV, in one layer)',
      mark: { colour: '#3b6ea8', shape: 'square', dash: [7, 2, 2, 2] },
    },
    ['queries'],
  ),
  joining(
    'dki-parallel',
    {
      comparison: 'planned',
      summary: 'as dki-blocks, all blocks at the same positions (parallel encoding)',
      mark: { colour: '#9c7c14', shape: 'cross', dash: [8, 3, 2, 3] },
    },
    ['cells', 'sharedPositions'],
    () => 'parallel',
  ),
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
