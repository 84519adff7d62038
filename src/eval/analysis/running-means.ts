import type { TurnValue } from '../../store/run-progress-repository.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MetricDeclaration } from '../../store/records/run-description.ts';
import { designEffect } from './statistics/design-effect.ts';
import { estimateMean, estimateShare } from './statistics/estimate-mean.ts';
import { type Observation, perItem, unitTotals } from './statistics/observations.ts';
import { isPooled } from './summary/metric-estimates.ts';

/** Means of one metric by arm while a run goes on, updated with the turns of each finished user. */
export function runningMeans(traitsOfArms: readonly ArmTraits[], { unit }: Pick<MetricDeclaration, 'unit'>) {
  const arms = traitsOfArms.map((traits) => ({ traits, n: 0, errors: 0, values: [] as Observation[] }));
  return {
    add(turns: readonly TurnValue[]): void {
      for (const arm of arms) {
        const own = turns.filter((turn) => turn.arm === arm.traits.name);
        const answered = own.filter(({ failed }) => !failed);
        arm.n += answered.length;
        arm.errors += own.length - answered.length;
        arm.values.push(...perItem(answered, ({ value }) => value));
      }
    },
    arms() {
      const pooled = arms.filter(({ traits, values }) => isPooled(traits) && values.length > 0);
      const effect = pooled.length === 0 ? undefined : designEffect(pooled.map(({ values }) => unitTotals(values)));
      return arms.map(({ traits, n, errors, values }) => {
        const estimate = unit === '%' ? estimateShare(values, effect) : estimateMean(values);
        return { arm: traits.name, n, errors, estimate };
      });
    },
  };
}
