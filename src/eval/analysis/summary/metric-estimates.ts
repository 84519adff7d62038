import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Estimate } from '../../../store/records/estimate.ts';
import type { Cost, PhaseMeans, QualityEstimates } from '../../../store/records/run-results.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { designEffect } from '../statistics/design-effect.ts';
import { estimateLatency, estimateMean, estimateShare } from '../statistics/estimate-mean.ts';
import { mean, perItem, unitTotals } from '../statistics/observations.ts';
import type { AnsweredResult, TokenCounts } from '../../../store/records/turn-record.ts';

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

/** Mean time over items, ms, and quantiles over turns. */
export function latency(turns: Turns, part: 'firstToken' | 'total'): Estimate | null {
  const time = ({ timings }: AnsweredResult): number => timings[part];
  return estimateLatency(perItem(turns, time), turns.map(time));
}

export function meanOver(turns: Turns, value: (turn: AnsweredResult) => number): number {
  return mean(turns.map(value));
}

/** The mean over the turns that have a value; null if none has. */
export function meanOfKnown(turns: Turns, value: (turn: AnsweredResult) => number | null | undefined): number | null {
  const values = turns.flatMap((turn) => value(turn) ?? []);
  return values.length === 0 ? null : mean(values);
}

export function tokenMeans(turns: Turns): TokenCounts {
  const usesFirstLayers = turns.some(({ tokens }) => tokens.firstLayers !== undefined);
  return {
    prompt: meanOver(turns, ({ tokens }) => tokens.prompt),
    kvResident: meanOver(turns, ({ tokens }) => tokens.kvResident),
    evaluated: meanOver(turns, ({ tokens }) => tokens.evaluated),
    ...(usesFirstLayers ? { firstLayers: meanOver(turns, ({ tokens }) => tokens.firstLayers ?? 0) } : {}),
    generated: meanOver(turns, ({ tokens }) => tokens.generated),
    positions: meanOver(turns, ({ tokens }) => tokens.positions),
  };
}

const PHASES = ['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode'] as const;

/** Means per turn, ms. */
export function phaseMeans(turns: Turns): PhaseMeans {
  return Object.fromEntries(
    PHASES.map((phase) => [phase, meanOver(turns, ({ timings }) => timings[phase])]),
  ) as PhaseMeans;
}

/** The mean cost of a turn; null without turns. */
export function meanCost(turns: Turns): Cost | null {
  const ttftMs = latency(turns, 'firstToken');
  const totalMs = latency(turns, 'total');
  if (ttftMs === null || totalMs === null) return null;
  return { turns: turns.length, tokens: tokenMeans(turns), phasesMs: phaseMeans(turns), ttftMs, totalMs };
}
