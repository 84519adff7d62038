import { BenchError } from '../../base/bench-error.ts';
import type { ArmSettings } from '../../store/records/arm-traits.ts';
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

interface Setting {
  readonly settings: ArmSettings;
  /** The arm's recipe without settings. */
  readonly recipe: JoinRecipe;
  /** True if, with settings, all blocks start at the same position. */
  readonly parallel: boolean;
}

interface Conflict {
  readonly when: (given: Setting) => boolean;
  readonly why: string;
  readonly hint: string;
}

const conflicts: readonly Conflict[] = [
  {
    when: ({ settings, recipe }) => recipe.positions === 'parallel' && settings.positions === 'contiguous',
    why: 'this arm with contiguous positions is dki-blocks',
    hint: 'use dki-blocks',
  },
  {
    when: ({ settings, parallel }) => settings.temperature !== undefined && !parallel,
    why: '@temperature is for blocks that share positions',
    hint: 'add @positions=parallel, or use dki-parallel',
  },
  {
    when: ({ recipe, parallel }) => parallel && recipe.recompute !== null,
    why: 'recomputed tokens attend to the blocks before them, and parallel blocks have no blocks before them',
    hint: 'use dki-blocks@positions=parallel',
  },
  {
    when: ({ settings: { context, sink }, recipe }) =>
      (context === 'none' || sink !== undefined) && recipe.recompute !== null,
    why: 'the first block is never recomputed, so it must be computed right after the header and nothing else',
    hint: 'use @context=previous, or set it on dki-blocks',
  },
  {
    when: ({ settings: { sink, budget } }) => sink?.endsWith(':kept') === true && budget === 'all',
    why: ':kept stores sink tokens in extra cells, and @budget=all gives all cells to memories',
    hint: 'drop @budget=all, or :kept',
  },
  {
    when: ({ settings: { context, built } }) => context === 'previous' && built === 'ahead',
    why: 'a block that is computed when its memory is added has no previous memory to attend to',
    hint: 'drop @built=ahead, or @context=previous',
  },
  {
    when: ({ settings, recipe }) => settings.run !== undefined && !takesRuns(recipe.recompute),
    why: '@run is for arms that recompute a share of the tokens, chosen one by one',
    hint: 'set it on such an arm, for example dki-first, dki-random or dki-cacheblend',
  },
];

interface JoiningArm {
  /** Without settings; null if the arm joins no whole blocks. */
  readonly recipe: JoinRecipe | null;
  readonly evictsFromBlocks: boolean;
}

/** @throws BenchError `bad-option` for a contradiction */
export function requireSense(name: string, settings: ArmSettings, { recipe, evictsFromBlocks }: JoiningArm): void {
  const refusal = (why: string, hint: string) => new BenchError('bad-option', `--arms ${name}: ${why}`, hint);
  if (settings.repair !== undefined && !evictsFromBlocks) {
    throw refusal('@repair is for arms that evict tokens of blocks', 'set it on dki-blocks-evict-RULE:R');
  }
  const [first] = blockSettings.filter((setting) => setting !== 'repair' && settings[setting] !== undefined);
  if (first === undefined) return;
  if (recipe === null) throw refusal(`@${first} is for arms that join whole blocks`, 'set it on dki-blocks');
  const parallel = recipeWith(recipe, settings).positions === 'parallel';
  const conflict = conflicts.find(({ when }) => when({ settings, recipe, parallel }));
  if (conflict !== undefined) throw refusal(conflict.why, conflict.hint);
}
