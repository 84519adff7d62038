import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { designEffect } from '../statistics/design-effect.ts';
import { unitTotals } from '../statistics/observations.ts';
import { perItem } from '../statistics/per-item.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/** Design effect of each metric in %, by name, pooled over the arms of a run. */
export type DesignEffects = ReadonlyMap<string, number>;

/** Negative controls answer by chance, which says nothing of how users differ. */
export function isPooled({ control }: Pick<ArmTraits, 'control'>): boolean {
  return control !== 'negative';
}

/** Design effects of the metrics that any item of the run has. */
export function designEffectsOf(
  answered: readonly AnsweredResult[],
  arms: readonly ArmTraits[],
  { all }: RunMetrics,
): DesignEffects {
  const pooled = arms
    .filter(isPooled)
    .map(({ name }) => turnsOfArm(answered, name))
    .filter(({ length }) => length > 0);
  return new Map(
    all
      .filter(({ unit }) => unit === '%')
      .flatMap((metric) => {
        const values = pooled.map((turns) => perItem(turns, metric)).filter((found) => found.values.length > 0);
        return values.length === 0 ? [] : [[metric.name, designEffect(values.map(unitTotals))] as const];
      }),
  );
}
