import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type Turns, turnsOfArm } from '../arm-turns.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { designEffect } from '../statistics/design-effect.ts';
import { perItem, unitTotals } from '../statistics/observations.ts';

/** Design effect of each metric in %, by name, pooled over the arms of a run. */
export type DesignEffects = ReadonlyMap<string, number>;

/** Negative controls answer by chance, which shows nothing about differences between users. */
export function isPooled({ control }: Pick<ArmTraits, 'control'>): boolean {
  return control !== 'negative';
}

/** Design effects of the metrics in % that have a value for any item of the run. */
export function designEffects(answered: Turns, arms: readonly ArmTraits[], { all }: RunMetrics): DesignEffects {
  const pooled = arms.filter(isPooled).map(({ name }) => turnsOfArm(answered, name));
  return new Map(
    all
      .filter(({ unit }) => unit === '%')
      .flatMap((metric) => {
        const values = pooled.map((turns) => perItem(turns, metric.of)).filter(({ length }) => length > 0);
        return values.length === 0 ? [] : [[metric.name, designEffect(values.map(unitTotals))] as const];
      }),
  );
}
