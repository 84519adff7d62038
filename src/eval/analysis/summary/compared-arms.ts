import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../run-turns.ts';

export type ComparedArms = NonNullable<ReturnType<typeof comparedArms>>;

export function isPlanned({ comparison }: Pick<ArmTraits, 'comparison'>): boolean {
  return comparison === 'planned' || comparison === 'primary';
}

/** The arm with prefix caching among those of a run: planned, and text only. */
export function prefixCacheArm<Traits extends Pick<ArmTraits, 'comparison' | 'injects'>>(arms: readonly Traits[]) {
  return arms.find(({ comparison, injects }) => comparison === 'planned' && injects === 'nothing');
}

/** Groups the turns of a run for its comparisons; undefined without a baseline. */
export function comparedArms(answered: Turns, arms: readonly ArmTraits[], settings: { regime: Regime; seed: number }) {
  const byArm = Map.groupBy(answered, ({ arm }) => arm);
  const ran = arms.filter(({ name }) => byArm.has(name));
  const baseline = ran.find(({ comparison }) => comparison === 'baseline')?.name;
  if (baseline === undefined) return undefined;
  return {
    byArm,
    baseline,
    // Costs are tested against it, if it ran.
    prefixCache: prefixCacheArm(ran)?.name,
    twin: ran.find(({ control }) => control === 'twin')?.name,
    others: ran.filter(({ name }) => name !== baseline),
    ...settings,
  };
}

/** Divides the turns of every arm in the same way: by the cache hits and misses of the primary arm on the same items. */
export interface Regime {
  readonly hits: (turns: Turns) => Turns;
  readonly misses: (turns: Turns) => Turns;
  /** False without a primary arm: every turn counts as a hit. */
  readonly divides: boolean;
}

export function cacheRegime(answered: Turns, arms: readonly ArmTraits[]): Regime {
  const primary = arms.find(({ comparison }) => comparison === 'primary');
  if (primary === undefined) return { hits: (turns) => turns, misses: () => [], divides: false };
  const counterpart = counterpartIn(turnsOfArm(answered, primary.name));
  return {
    hits: (turns) => turns.filter((turn) => counterpart(turn)?.account.cache === 'hit'),
    misses: (turns) => turns.filter((turn) => counterpart(turn)?.account.cache === 'miss'),
    divides: true,
  };
}
