import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Turns } from '../turns-by-arm.ts';
import type { CacheSplit } from './cache-split.ts';

export type ArmsByRole = NonNullable<ReturnType<typeof armsByRole>>;

export function isPlanned({ comparison }: Pick<ArmTraits, 'comparison'>): boolean {
  return comparison === 'planned' || comparison === 'primary';
}

/** Finds the arm with prefix caching: the planned arm that injects nothing. */
export function prefixCacheArm<Traits extends Pick<ArmTraits, 'comparison' | 'injects'>>(arms: readonly Traits[]) {
  return arms.find(({ comparison, injects }) => comparison === 'planned' && injects === 'nothing');
}

/** Groups turns by arm and names the roles that comparisons need; undefined without a baseline. */
export function armsByRole(answered: Turns, arms: readonly ArmTraits[], settings: { split: CacheSplit; seed: number }) {
  const byArm = Map.groupBy(answered, ({ arm }) => arm);
  const ran = arms.filter(({ name }) => byArm.has(name));
  const baseline = ran.find(({ comparison }) => comparison === 'baseline')?.name;
  if (baseline === undefined) return undefined;
  return {
    byArm,
    baseline,
    // If it ran, costs are tested against it.
    prefixCache: prefixCacheArm(ran)?.name,
    twin: ran.find(({ control }) => control === 'twin')?.name,
    others: ran.filter(({ name }) => name !== baseline),
    ...settings,
  };
}
