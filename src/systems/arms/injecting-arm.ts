import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import { DKISystem, type DKISystemParts } from '../dki-system.ts';
import { type RecipeName, recipeNamed } from '../prefill/join-recipe.ts';
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
