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

export function isPlanned({ comparison }: Pick<ArmTraits, 'comparison'>): boolean {
  return comparison === 'planned' || comparison === 'primary';
}

/** Finds the arm with prefix caching: the planned arm that injects nothing. */
export function prefixCacheArm<Traits extends Pick<ArmTraits, 'comparison' | 'injects'>>(arms: readonly Traits[]) {
  return arms.find(({ comparison, injects }) => comparison === 'planned' && injects === 'nothing');
}
