import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { turnsByArm } from '../turns-of-run.ts';
import type { Regime } from './regime.ts';

/** The arms of a run that are compared, and their turns. */
export interface ComparedArms {
  readonly byArm: ReadonlyMap<string, readonly AnsweredResult[]>;
  readonly baseline: string;
  /** The text arm that keeps prefixes, which costs are tested against; undefined where it did not run. */
  readonly prefixCache: string | undefined;
  /** The A/A twin of the baseline; undefined where it did not run. */
  readonly twin: string | undefined;
  /** Every arm but the baseline that answered anything. */
  readonly others: readonly ArmTraits[];
  readonly regime: Regime;
  readonly seed: number;
}

/** The arm of prefix caching among those of a run: planned, and of text. */
export function prefixCacheOf<Traits extends Pick<ArmTraits, 'comparison' | 'injects'>>(
  arms: readonly Traits[],
): Traits | undefined {
  return arms.find(({ comparison, injects }) => comparison === 'planned' && injects === 'nothing');
}

/** Sorts out who is compared with whom; undefined without a baseline. */
export function comparedArms(
  answered: readonly AnsweredResult[],
  arms: readonly ArmTraits[],
  { regime, seed }: Pick<ComparedArms, 'regime' | 'seed'>,
): ComparedArms | undefined {
  const byArm = turnsByArm(answered);
  const ran = arms.filter(({ name }) => byArm.has(name));
  const baseline = ran.find(({ comparison }) => comparison === 'baseline')?.name;
  if (baseline === undefined) return undefined;
  return {
    byArm,
    baseline,
    prefixCache: prefixCacheOf(ran)?.name,
    twin: ran.find(({ control }) => control === 'twin')?.name,
    others: ran.filter(({ name }) => name !== baseline),
    regime,
    seed,
  };
}
