import { BenchError } from '../../config/bench-error.ts';
import type { ArmSettings } from '../../records/arm-traits.ts';
import type { BlockMaking } from '../../records/block-making.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';

/** The settings that are of arms which join blocks. */
const blockSettings = ['context', 'sink', 'positions', 'temperature'] as const;

export type BlockSettings = Pick<ArmSettings, (typeof blockSettings)[number]>;

/** The settings of an arm that its blocks are made and placed by, and the others. */
export function blockSettingsOf({ context, sink, positions, temperature, ...others }: ArmSettings): {
  readonly blocks: BlockSettings;
  readonly others: ArmSettings;
} {
  const blocks = {
    ...(context === undefined ? {} : { context }),
    ...(sink === undefined ? {} : { sink }),
    ...(positions === undefined ? {} : { positions }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  return { blocks, others };
}

/** The recipe of an arm by its settings. */
export function recipeWith(recipe: JoinRecipe, { context, sink, positions, temperature }: BlockSettings): JoinRecipe {
  const making: BlockMaking = {
    ...(context === undefined || context === 'header' ? {} : { context }),
    ...(sink === undefined ? {} : { sink: { tokens: Number.parseInt(sink, 10), kept: sink.endsWith(':kept') } }),
    ...(temperature === undefined || temperature === 1 ? {} : { temperature }),
  };
  return { ...recipe, ...making, positions: positions ?? recipe.positions };
}

/** Traits of an arm that concern its blocks. */
export interface JoiningArm {
  /** Without settings. */
  readonly recipe: JoinRecipe;
  /** Its blocks are made before anybody knows beside which others they will stand. */
  readonly ahead: boolean;
}

/**
 * Refuses settings that have no sense for an arm.
 * @param name as the user gave it @param joining null for an arm that joins no blocks
 * @throws BenchError `bad-option` with the reason
 */
export function requireSense(name: string, settings: ArmSettings, joining: JoiningArm | null): void {
  const [first] = blockSettings.filter((setting) => settings[setting] !== undefined);
  if (first === undefined) return;
  if (joining === null) throw senseless(name, `@${first} is of arms that join whole blocks`, 'set it on dki-blocks');
  const { recipe, ahead } = joining;
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
  if (context === 'previous' && ahead) {
    const why = 'a block that is computed when its memory is added has no memory in front of it';
    throw senseless(name, why, 'use dki-blocks@context=previous');
  }
}

function senseless(name: string, why: string, hint: string): BenchError {
  return new BenchError('bad-option', `--arms ${name}: ${why}`, hint);
}
