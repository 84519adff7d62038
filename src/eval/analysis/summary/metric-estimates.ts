import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Estimate } from '../../../store/records/estimate.ts';
import type { QualityEstimates } from '../../../store/records/run-results.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { designEffect } from '../statistics/design-effect.ts';
import { estimateMean, estimateShare } from '../statistics/estimate-mean.ts';
import { perItem, unitTotals } from '../statistics/observations.ts';

/** Mean and interval of one metric over turns of one arm; null if no turn has a value. */
export function estimateMetric(metric: MetricDefinition, turns: Turns, effects: DesignEffects): Estimate | null {
  const values = perItem(turns, metric.of);
  return metric.unit === '%' ? estimateShare(values, effects.get(metric.name)) : estimateMean(values);
}

export function qualityEstimates(turns: Turns, { all }: RunMetrics, effects: DesignEffects): QualityEstimates {
  return Object.fromEntries(
    all.map((metric) => [metric.name, estimateMetric(metric, turns, effects)]),
  ) as unknown as QualityEstimates;
}

/** Design effect of each metric in %, by name, pooled over the arms of a run. */
export type DesignEffects = ReadonlyMap<string, number>;

/** Negative controls are not pooled: they answer by chance, which shows nothing about differences between users. */
export function isPooled({ control }: Pick<ArmTraits, 'control'>): boolean {
  return control !== 'negative';
}

/** Design effects of the metrics in % that have values in this run. */
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
