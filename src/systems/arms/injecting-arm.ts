import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { DKISystem, type DKISystemParts } from '../dki-system.ts';
import { makingOf, type RecipeName, recipeName, parseRecipe } from '../prefill/join-recipe.ts';
import { recipeWith } from './block-settings.ts';
import { keptSinkTokens } from '../prefill/block-context.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';

type Difference = Partial<Omit<DKISystemParts, keyof ArmParts>>;

/** An arm that injects; `of` gives what sets it apart from the others. */
export function injecting(
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
export function joining(
  name: string,
  traits: Parameters<typeof injecting>[1],
  needs: readonly CapabilityName[],
  recipeOf: (argument: string | null) => RecipeName,
): ArmDefinition {
  const definition = injecting(name, traits, needs, ({ blocks }, argument) => ({
    prefill: recipeWith(parseRecipe(recipeOf(argument)), blocks),
    ahead: blocks.built === 'ahead',
  }));
  return {
    ...definition,
    traits: (argument, alpha, blocks) => {
      const recipe = recipeWith(parseRecipe(recipeOf(argument)), blocks);
      const making = makingOf(recipe);
      return {
        ...definition.traits(argument, alpha, blocks),
        prefill: recipeName(recipe),
        ...(making === undefined ? {} : { making }),
        // Tokens that share positions are in no list, and those that are kept in front of blocks in no prompt.
        ...(recipe.positions === 'parallel' || keptSinkTokens(recipe) > 0 ? { equivalence: 'none' } : {}),
      };
    },
    requires: (argument, _, blocks) =>
      recipeWith(parseRecipe(recipeOf(argument)), blocks).positions === 'parallel'
        ? [...needs, 'sharedPositions']
        : needs,
    joins: (argument) => parseRecipe(recipeOf(argument)),
  };
}
