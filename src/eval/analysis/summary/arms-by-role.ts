import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../turns-by-arm.ts';

/** Splits the turns of every arm in the same way: by cache hits and misses of the primary arm on the same items. */
export interface CacheSplit {
  readonly hits: (turns: Turns) => Turns;
  readonly misses: (turns: Turns) => Turns;
  /** False without a primary arm: every turn counts as a hit. */
  readonly hasPrimary: boolean;
}

export function splitByCache(answered: Turns, arms: readonly ArmTraits[]): CacheSplit {
  const primary = arms.find(({ comparison }) => comparison === 'primary');
  if (primary === undefined) return { hits: (turns) => turns, misses: () => [], hasPrimary: false };
  const counterpart = counterpartIn(turnsOfArm(answered, primary.name));
  const having = (cache: 'hit' | 'miss') => (turns: Turns) =>
    turns.filter((turn) => counterpart(turn)?.account.cache === cache);
  return { hits: having('hit'), misses: having('miss'), hasPrimary: true };
}

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
