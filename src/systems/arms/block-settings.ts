import type { ArmSettings, ArmTraits } from '../../store/records/arm-traits.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { TokenSelection } from '../prefill/select-tokens-to-recompute.ts';

const blockSettings = ['context', 'sink', 'positions', 'temperature', 'run', 'built', 'repair'] as const;

/** Settings of an arm's name that only apply to joined blocks; `repair` to blocks with evicted tokens. */
export type BlockSettings = Pick<ArmSettings, (typeof blockSettings)[number]>;

export function splitSettings(settings: ArmSettings): Record<'blocks' | 'others', ArmSettings> {
  const isOfBlocks = ([name]: [string, unknown]): boolean => blockSettings.some((setting) => setting === name);
  const { true: blocks = [], false: others = [] } = Object.groupBy(Object.entries(settings), (setting) =>
    isOfBlocks(setting) ? 'true' : 'false',
  );
  return { blocks: Object.fromEntries(blocks), others: Object.fromEntries(others) };
}

/** The recipe changed by the settings of an arm's name. */
export function recipeWith(recipe: JoinRecipe, { context, sink, positions, temperature, run }: BlockSettings) {
  const making: BlockMaking = {
    ...(context === undefined || context === 'header' ? {} : { context }),
    ...(sink === undefined ? {} : { sink: { tokens: Number.parseInt(sink, 10), kept: sink.endsWith(':kept') } }),
    ...(temperature === undefined || temperature === 1 ? {} : { temperature }),
  };
  const { recompute } = recipe;
  return {
    ...recipe,
    ...making,
    positions: positions ?? recipe.positions,
    recompute: run === undefined || !takesRuns(recompute) ? recompute : { ...recompute, run },
  };
}

function takesRuns(
  recompute: TokenSelection | null,
): recompute is Exclude<TokenSelection, { readonly by: 'link' | 'ranked' }> {
  return recompute !== null && recompute.by !== 'link' && recompute.by !== 'ranked';
}

/** Whether settings are refused, why, and what to do instead. */
export type Refusal = readonly [isRefused: boolean, why: string, hint: string];

/** @param recipe without settings; null if the arm joins no whole blocks */
export function blockRefusals(settings: ArmSettings, recipe: JoinRecipe | null, traits: ArmTraits): Refusal[] {
  const evictsFromBlocks = traits.evict !== undefined && traits.prefill === 'blocks';
  const [first] = blockSettings.filter((setting) => setting !== 'repair' && settings[setting] !== undefined);
  return [
    [
      settings.repair !== undefined && !evictsFromBlocks,
      '@repair is for arms that evict tokens of blocks',
      'set it on dki-blocks-evict-RULE:R',
    ],
    [first !== undefined && recipe === null, `@${first} is for arms that join whole blocks`, 'set it on dki-blocks'],
    ...(first === undefined || recipe === null ? [] : conflicts(settings, recipe)),
  ];
}

function conflicts(settings: ArmSettings, recipe: JoinRecipe): Refusal[] {
  const { context, sink, positions, temperature, run, built, budget } = settings;
  const { recompute } = recipe;
  const isParallel = (positions ?? recipe.positions) === 'parallel';
  return [
    [
      recipe.positions === 'parallel' && positions === 'contiguous',
      'this arm with contiguous positions is dki-blocks',
      'use dki-blocks',
    ],
    [
      temperature !== undefined && !isParallel,
      '@temperature is for blocks that share positions',
      'add @positions=parallel, or use dki-parallel',
    ],
    [
      isParallel && recompute !== null,
      'recomputed tokens attend to the blocks before them, and parallel blocks have no blocks before them',
      'use dki-blocks@positions=parallel',
    ],
    [
      (context === 'none' || sink !== undefined) && recompute !== null,
      'the first block is never recomputed, so it must be computed right after the header and nothing else',
      'use @context=previous, or set it on dki-blocks',
    ],
    [
      sink?.endsWith(':kept') === true && budget === 'all',
      ':kept stores sink tokens in extra cells, and @budget=all gives all cells to memories',
      'drop @budget=all, or :kept',
    ],
    [
      context === 'previous' && built === 'ahead',
      'a block that is computed when its memory is added has no previous memory to attend to',
      'drop @built=ahead, or @context=previous',
    ],
    [
      run !== undefined && !takesRuns(recompute),
      '@run is for arms that recompute a share of the tokens, chosen one by one',
      'set it on such an arm, for example dki-first, dki-random or dki-cacheblend',
    ],
  ];
}
