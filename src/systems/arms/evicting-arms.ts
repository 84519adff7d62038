import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { parseEviction } from '../../kv/eviction-scores.ts';
import type { Mark } from '../../store/records/arm-traits.ts';
import type { EvictionName, EvictionRule } from '../../store/records/prefill-record.ts';
import { parseRecipe } from '../prefill/join-recipe.ts';
import type { ArmDefinition } from './arm-definition.ts';
import { injecting } from './injecting-arm.ts';

/** The fraction of the memory tokens that is dropped, without the zero in front. */
const RATIO = /^(0|\.\d{1,3})$/;

interface Rule {
  /** The tokens that go, in words. */
  readonly drops: string;
  readonly shape: Mark['shape'];
}

const rules: Readonly<Record<EvictionRule, Rule>> = {
  random: {
    drops: 'at random, the control of every rule',
    shape: 'cross',
  },
  streaming: {
    drops: 'all but the most recent, the header being the sink (StreamingLLM)',
    shape: 'square',
  },
  knorm: { drops: 'those with the longest keys (Knorm)', shape: 'circle' },
  keydiff: { drops: 'those with keys most like the mean (KeyDiff)', shape: 'diamond' },
  lagkv: {
    drops: 'those that vary least by the range of the next ones (LagKV)',
    shape: 'triangle-down',
  },
};

/** An arm whose memories keep some of their tokens, in each head of each layer its own. */
function evicting(by: EvictionRule, prefill: 'prefix' | 'blocks'): ArmDefinition {
  const { drops, shape } = rules[by];
  const isPrefix = prefill === 'prefix';
  const nameOf = (ratio: string | null): EvictionName => `${by}:${ratio}` as EvictionName;
  const traits = {
    summary: isPrefix
      ? `as dki, a fraction of the memory tokens dropped: ${drops}`
      : `as dki-blocks, a fraction of each block dropped: ${drops}`,
    // Of all rules: shapes tell them apart.
    mark: { colour: isPrefix ? '#d60022' : '#757f2b', shape, dash: isPrefix ? [1, 3] : [5, 3] },
  };
  const needs: readonly CapabilityName[] = ['cells'];
  const definition = injecting(`dki-${isPrefix ? '' : 'blocks-'}evict-${by}`, traits, needs, (_, ratio) => ({
    evict: parseEviction(nameOf(ratio)),
    ...(isPrefix ? {} : { prefill: parseRecipe('blocks') }),
  }));
  return {
    ...definition,
    argument: { example: '.5', pattern: RATIO },
    traits: (ratio, ...settings) => ({ ...definition.traits(ratio, ...settings), prefill, evict: nameOf(ratio) }),
  };
}

const byRule = Object.keys(rules) as EvictionRule[];

/** Arms that drop a fraction of the tokens of their memories, of the exact prefix and of blocks, and their controls. */
export const evictingArms: readonly ArmDefinition[] = [
  ...byRule.map((by) => evicting(by, 'prefix')),
  ...byRule.map((by) => evicting(by, 'blocks')),
];
