import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { parseEviction, seesQuestion } from '../../kv/eviction-rule-and-share.ts';
import { type EvictionName, type EvictionRule, evictionRules } from '../../store/records/prefill-record.ts';
import { join } from 'node:path';
import { kvOperations } from '../../kv/kv-operations.ts';
import { externalPrefill } from '../prefill/external-prefill.ts';
import { SingleSessionSystem } from '../single-session-system.ts';
import { DKISystem, type DKISystemParts } from '../dki-system.ts';
import { parseRepair } from '../prefill/repaired-blocks.ts';
import {
  type JoinRecipe,
  keptSinkTokens,
  makingOf,
  parseRecipe,
  type RecipeName,
  recipeName,
  SHARE,
} from '../prefill/join-recipe.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';
import { type BlockSettings, recipeWith } from './block-settings.ts';

interface InjectingArm extends Pick<ArmDefinition, 'name' | 'argument' | 'gated'> {
  readonly needs: readonly CapabilityName[];
  readonly traits: OwnTraits | ((argument: string | null) => OwnTraits);
  /** True: claims results bitwise equal to RAG while values are not scaled. Default false. */
  readonly exact?: boolean;
  /** Parts in which the arm's system differs from that of `dki`. */
  readonly parts?: (parts: ArmParts, argument: string | null) => Partial<Omit<DKISystemParts, keyof ArmParts>>;
}

function injecting({ needs, traits, exact = false, parts = () => ({}), ...arm }: InjectingArm) {
  return {
    ...arm,
    traits: (argument, alpha) => ({
      injects: 'memories',
      prefill: 'prefix',
      // With a gate, α differs from turn to turn.
      ...(arm.gated === true ? {} : { alpha }),
      ...(exact ? { equivalence: alpha === 1 ? 'bitwise' : 'tokens' } : {}),
      ...(typeof traits === 'function' ? traits(argument) : traits),
    }),
    // Scaled values are imported as cells.
    requires: (_, alpha) => (alpha === 1 || needs.includes('cells') ? needs : [...needs, 'cells']),
    open: (all, argument) => new DKISystem({ ...all, ...parts(all, argument) }),
  } satisfies ArmDefinition;
}

/** An arm that joins blocks. @param recipe name of its recipe for an argument, without settings */
function joining(
  arm: Omit<InjectingArm, 'needs'>,
  recipe: (argument: string | null) => RecipeName,
  needs: readonly CapabilityName[] = [],
): ArmDefinition {
  const withSettings = (argument: string | null, blocks: BlockSettings): JoinRecipe =>
    recipeWith(parseRecipe(recipe(argument)), blocks);
  const definition = injecting({
    ...arm,
    needs: ['cells', ...needs],
    parts: ({ blocks }, argument) => ({
      prefill: withSettings(argument, blocks),
      ahead: blocks.built === 'ahead',
    }),
  });
  return {
    ...definition,
    traits: (argument, alpha, blocks) => {
      const joined = withSettings(argument, blocks);
      const making = makingOf(joined);
      return {
        ...definition.traits(argument, alpha),
        prefill: recipeName(joined),
        ...(making === undefined ? {} : { making }),
        // A session cannot list tokens at shared positions, and kept sink tokens are not part of the prompt.
        ...(joined.positions === 'parallel' || keptSinkTokens(joined) > 0 ? { equivalence: 'none' } : {}),
      };
    },
    requires: (argument, alpha, blocks) => [
      ...definition.requires(argument, alpha),
      ...(withSettings(argument, blocks).positions === 'parallel' ? (['sharedPositions'] as const) : []),
    ],
    joins: (argument) => parseRecipe(recipe(argument)),
  };
}

function selecting(
  rule: string,
  summary: string,
  { needs = [], pattern = SHARE, ...traits }: Partial<OwnTraits> & { needs?: CapabilityName[]; pattern?: string } = {},
): ArmDefinition {
  const arm = {
    name: `dki-${rule}`,
    argument: { example: '.3', pattern: new RegExp(`^${pattern}$`) },
    traits: { equivalence: 'tokens', summary, ...traits },
  } as const;
  return joining(arm, (share) => `${rule}:${share}` as RecipeName, needs);
}

const evictions: Readonly<Record<EvictionRule, string>> = {
  random: 'at random, the control for every rule',
  streaming: 'all but the most recent, with the header as sink (StreamingLLM)',
  knorm: 'those with the longest keys (Knorm)',
  keydiff: 'those with keys most like the mean (KeyDiff)',
  lagkv: 'those with the lowest lag-relative variance (LagKV)',
  snapkv: 'what the first question attends to least (SnapKV, in one layer)',
};

/** An arm that evicts some tokens of the memories, chosen separately for each head of each layer. */
function evicting(rule: EvictionRule, prefill: 'prefix' | 'blocks'): ArmDefinition {
  const isPrefix = prefill === 'prefix';
  const name = (ratio: string | null): EvictionName => `${rule}:${ratio}` as EvictionName;
  const summary = isPrefix
    ? `as dki, dropping a fraction of the memory tokens: ${evictions[rule]}`
    : `as dki-blocks, dropping a fraction of each block: ${evictions[rule]}`;
  return injecting({
    name: `dki-${isPrefix ? '' : 'blocks-'}evict-${rule}`,
    // The fraction that is dropped, without a leading zero.
    argument: { example: '.5', pattern: /^(0|\.\d{1,3})$/ },
    needs: seesQuestion({ by: rule }) ? ['cells', 'queries'] : ['cells'],
    traits: (ratio) => ({ summary, prefill, evict: name(ratio) }),
    parts: ({ blocks: { repair } }, ratio) => ({
      evict: parseEviction(name(ratio)),
      ...(isPrefix ? {} : { prefill: parseRecipe('blocks') }),
      ...(repair === undefined ? {} : { repair: parseRepair(repair) }),
    }),
  });
}

/** An arm whose KV is read from files that were made elsewhere. */
const external: ArmDefinition = {
  name: 'dki-external',
  argument: { example: 'NAME', pattern: /^[A-Za-z0-9][\w.-]*$/ },
  traits: {
    injects: 'memories',
    external: true,
    summary: 'KV made elsewhere, from files in the folder NAME of --external-kv, in place of header and memories',
  },
  requires: () => ['cells'],
  open: (parts, argument) => {
    const { kv = kvOperations, rules, topK, threshold, externalKv } = parts;
    const folder = join(externalKv!, argument!);
    return new SingleSessionSystem({
      ...parts,
      retrieves: 'retrieved',
      openStrategy: ({ engine }) => Promise.resolve(externalPrefill({ engine, kv, folder })),
      storesKv: false,
      injectionMode: 'dki-external',
      action: 'dki_generate',
      config: { ...rules, topK, threshold, externalKv: folder },
    });
  },
};

/** Arms that inject KV, from exact ones to approximations, and their controls. */
export const kvArms: readonly ArmDefinition[] = [
  injecting({
    name: 'dki',
    needs: ['checkpoints'],
    exact: true,
    traits: {
      comparison: 'primary',
      summary: 'header and retrieved memories as one exact KV prefix, computed once per set of memories',
    },
  }),
  injecting({
    name: 'dki-resident',
    needs: ['checkpoints'],
    exact: true,
    traits: {
      keepsSession: true,
      summary: 'as dki, leaving the prefix in the session between turns, so that it need not be loaded again',
    },
    parts: () => ({ keepsSession: true }),
  }),
  joining(
    {
      name: 'dki-blocks',
      traits: {
        equivalence: 'tokens',
        comparison: 'planned',
        summary: 'each memory as a KV block computed once; blocks are joined at contiguous positions, keys re-rotated',
      },
    },
    () => 'blocks',
  ),
  joining(
    {
      name: 'dki-link',
      argument: { example: '4', pattern: /^(\d{1,6}|all)$/ },
      traits: (argument) => ({
        equivalence: 'tokens',
        comparison: argument === '4' ? 'planned' : 'exploratory',
        summary:
          'as dki-blocks, recomputing the first K tokens (or all) of every block at their final place (LegoLink)',
      }),
    },
    (argument) => `link:${argument}` as RecipeName,
  ),
  selecting('first', 'as dki-blocks, recomputing a share of the memory tokens: the first of every block'),
  selecting(
    'random',
    'as dki-first, for random tokens: the control for every selection; ranked:R draws as many as dki-ranked:R',
    { pattern: `(ranked:)?${SHARE}` },
  ),
  selecting(
    'ranked',
    'as dki-first, for whole blocks: in retrieval order, best first, at least one, until the share is used up',
  ),
  selecting(
    'cacheblend',
    'as dki-first, for tokens whose KV in the second layer deviates most from that of a full prefill (CacheBlend)',
    { needs: ['firstLayers'] },
  ),
  selecting(
    'cacheblend-oracle',
    'as dki-first, for tokens whose KV deviates most from a full prefill: an upper bound that needs the prefill (CacheBlend)',
    { deployable: false },
  ),
  selecting('informative', 'as dki-first, for tokens that are least likely given the text before them in their block', {
    needs: ['logProbabilities'],
  }),
  selecting('ranked-informative', 'as dki-informative, but all from the best retrieved block first, then the next', {
    needs: ['logProbabilities'],
  }),
  selecting(
    'query',
    'as dki-first, for tokens that the question attends to most in the middle layer (ProphetKV, in one layer)',
    { needs: ['queries'] },
  ),
  joining(
    {
      name: 'dki-parallel',
      traits: {
        comparison: 'planned',
        summary: 'as dki-blocks, with all blocks at the same positions (parallel encoding)',
      },
    },
    () => 'parallel',
  ),
  ...evictionRules.map((rule) => evicting(rule, 'prefix')),
  ...evictionRules.map((rule) => evicting(rule, 'blocks')),
  injecting({
    name: 'dki-hybrid',
    needs: ['checkpoints'],
    traits: {
      injects: 'preferences',
      summary: "the user's preferences as KV, followed by the other retrieved memories as text",
    },
    parts: () => ({ preferencesOnly: true }),
  }),
  injecting({
    name: 'dki-gated',
    needs: ['checkpoints', 'cells', 'fullDistribution'],
    gated: true,
    traits: { summary: 'as dki, but only if retrieval is relevant enough, with α set by relevance and uncertainty' },
    parts: ({ gatingThreshold }) => ({ gating: { kind: 'dual-factor', threshold: gatingThreshold } }),
  }),
  external,
  injecting({
    name: 'dki-wrong',
    needs: ['checkpoints'],
    traits: {
      retrieves: 'donor',
      control: 'negative',
      summary: "as dki, with another user's memories instead of the retrieved ones: a control that must not answer",
    },
    parts: () => ({ retrieves: 'donor' }),
  }),
];
