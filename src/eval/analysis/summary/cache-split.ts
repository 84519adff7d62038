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
  return {
    hits: (turns) => turns.filter((turn) => counterpart(turn)?.account.cache === 'hit'),
    misses: (turns) => turns.filter((turn) => counterpart(turn)?.account.cache === 'miss'),
    hasPrimary: true,
  };
}
