import type { ArmTraits } from '../../../../store/records/arm-traits.ts';
import type { MethodResults } from '../../../../store/records/results.ts';
import type { MetricDefinition } from '../../metrics/metric-definition.ts';
import { holm } from '../../statistics/holm.ts';
import { pairedTotals } from '../../statistics/paired-totals.ts';
import { paired, perItem } from '../../statistics/per-item.ts';
import { signFlipP } from '../../statistics/sign-flip.ts';
import { LEAST_USERS, LEVEL } from '../../statistics/verdict.ts';
import type { ComparedArms } from '../compared-arms.ts';
import { asDifference, gainOf, pooledEffect } from '../paired-quality.ts';
import { tally } from '../tally.ts';
import { controlOf } from './method-of-arm.ts';

type AgainstRandom = NonNullable<MethodResults['againstRandom']>;

/**
 * Every method less as many tokens drawn at random, by the primary metric: one family of tests, over all methods that somebody
 * could deploy and all budgets.
 * @returns by name of the arm; those without a control are not there
 */
export function againstRandom(
  metric: MetricDefinition,
  arms: readonly ArmTraits[],
  { byArm, seed }: Pick<ComparedArms, 'byArm' | 'seed'>,
): ReadonlyMap<string, AgainstRandom> {
  const compared = arms.flatMap((arm) => {
    const control = controlOf(arm, arms);
    const [own, others] = [byArm.get(arm.name), byArm.get(control?.name ?? '')];
    if (control === undefined || own === undefined || others === undefined) return [];
    const pairs = paired(perItem(own, metric), perItem(others, metric));
    return pairs.a.length === 0 ? [] : [{ arm, control, pairs }];
  });
  const effect = pooledEffect(compared.map(({ pairs }) => pairs)) ?? 1;
  const tested = compared.filter(({ arm }) => arm.deployable !== false);
  const ps = tested.map(({ pairs }) => signFlipP(pairedTotals(pairs).differences, seed));
  const adjusted = holm(ps);
  return new Map(
    compared.map((one) => {
      const { arm, control, pairs } = one;
      const place = tested.indexOf(one);
      const difference = asDifference(gainOf(pairs, metric, effect), metric);
      const [p, pAdjusted] = place === -1 ? [null, null] : [ps[place]!, adjusted[place]!];
      const counts = tally(pairs, metric.direction);
      const isGain = metric.direction === 'higher' ? difference.delta > 0 : difference.delta < 0;
      const outcome = outcomeOf(pAdjusted, counts.users, isGain);
      return [arm.name, { b: control.name, ...difference, ...counts, p, pAdjusted, outcome }];
    }),
  );
}

function outcomeOf(pAdjusted: number | null, users: number, isGain: boolean): AgainstRandom['outcome'] {
  if (pAdjusted === null) return 'not tested';
  if (users < LEAST_USERS) return 'too few users';
  if (pAdjusted >= LEVEL) return 'undecided';
  return isGain ? 'better' : 'worse';
}
