import { BenchError } from '../../base/bench-error.ts';
import type { ArmSettings } from '../../store/records/arm-traits.ts';
import type { BlockMaking } from '../../store/records/block-making.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { TokenSelection } from '../prefill/select-tokens.ts';

/** The settings that are of arms which join blocks. */
const blockSettings = ['context', 'sink', 'positions', 'temperature', 'run', 'built'] as const;

export type BlockSettings = Pick<ArmSettings, (typeof blockSettings)[number]>;

/** The settings of an arm that its blocks are made and placed by, and the others. */
export function blockSettingsOf(settings: ArmSettings): {
  readonly blocks: BlockSettings;
  readonly others: ArmSettings;
} {
  const ofBlocks: readonly string[] = blockSettings;
  const those = (belongs: boolean): ArmSettings =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => ofBlocks.includes(name) === belongs));
  return { blocks: those(true), others: those(false) };
}

/** The recipe of an arm by its settings. */
export function recipeWith(
  recipe: JoinRecipe,
  { context, sink, positions, temperature, run }: BlockSettings,
): JoinRecipe {
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

/** True for a selection whose tokens may be taken in runs. */
function takesRuns(
  recompute: TokenSelection | null,
): recompute is Exclude<TokenSelection, { readonly by: 'link' | 'ranked' }> {
  return recompute !== null && recompute.by !== 'link' && recompute.by !== 'ranked';
}

/**
 * Refuses settings that have no sense for an arm.
 * @param name as the user gave it @param recipe without settings; null for an arm that joins no blocks
 * @throws BenchError `bad-option` with the reason
 */
export function requireSense(name: string, settings: ArmSettings, recipe: JoinRecipe | null): void {
  const [first] = blockSettings.filter((setting) => settings[setting] !== undefined);
  if (first === undefined) return;
  if (recipe === null) throw senseless(name, `@${first} is of arms that join whole blocks`, 'set it on dki-blocks');
  const { context, sink, positions } = settings;
  const parallel = recipeWith(recipe, settings).positions === 'parallel';
  if (recipe.positions === 'parallel' && positions === 'contiguous') {
    throw senseless(name, 'parallel blocks at contiguous positions are dki-blocks', 'use dki-blocks');
  }
  if (settings.temperature !== undefined && !parallel) {
    const why = '@temperature is of blocks that stand at the same positions';
    throw senseless(name, why, 'add @positions=parallel, or use dki-parallel');
  }
  if (parallel && recipe.recompute !== null) {
    const why = 'tokens are recomputed in sight of the blocks in front of them, and parallel blocks have none there';
    throw senseless(name, why, 'use dki-blocks@positions=parallel');
  }
  if ((context === 'none' || sink !== undefined) && recipe.recompute !== null) {
    const why = 'the first block is never recomputed, since it saw what precedes it: the header, and nothing else';
    throw senseless(name, why, 'use @context=previous, or set it on dki-blocks');
  }
  if (sink?.endsWith(':kept') === true && settings.budget === 'all') {
    const why = 'tokens that are kept in front of blocks need cells, and @budget=all gives them all to memories';
    throw senseless(name, why, 'drop @budget=all, or :kept');
  }
  if (context === 'previous' && settings.built === 'ahead') {
    const why = 'a block that is computed when its memory is added has no memory in front of it';
    throw senseless(name, why, 'drop @built=ahead, or @context=previous');
  }
  if (settings.run !== undefined && !takesRuns(recipe.recompute)) {
    const why = '@run is of arms that recompute a share of the tokens by a rule of single ones';
    throw senseless(name, why, 'set it on dki-first, dki-random, dki-cacheblend or another of them');
  }
}

function senseless(name: string, why: string, hint: string): BenchError {
  return new BenchError('bad-option', `--arms ${name}: ${why}`, hint);
}
