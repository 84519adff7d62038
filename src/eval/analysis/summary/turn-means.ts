import type { Estimate, PhaseMeans, QualityEstimates, TokenMeans } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { estimateLatency, estimateMean, estimateShare } from '../statistics/estimate.ts';
import { type Measure, perItem, sumOf } from '../statistics/per-item.ts';
import type { DesignEffects } from './design-effects.ts';
import { timingOf, tokensOf } from '../turn-measures.ts';

/** Mean and interval of one metric over some turns of one arm; null where it is defined of none of them. */
export function estimateOf(
  metric: MetricDefinition,
  turns: readonly AnsweredResult[],
  effects: DesignEffects,
): Estimate | null {
  const values = perItem(turns, metric);
  return metric.unit === '%' ? estimateShare(values, effects.get(metric.name)) : estimateMean(values);
}

/** All metrics of quality over some turns of one arm. */
export function qualityOf(
  turns: readonly AnsweredResult[],
  { all }: RunMetrics,
  effects: DesignEffects,
): QualityEstimates {
  return Object.fromEntries(
    all.map((metric) => [metric.name, estimateOf(metric, turns, effects)]),
  ) as unknown as QualityEstimates;
}

/** Milliseconds over some turns of one arm. */
export function latencyOf(turns: readonly AnsweredResult[], part: 'firstToken' | 'total'): Estimate | null {
  return estimateLatency(perItem(turns, timingOf[part]));
}

/** The mean over some turns; one without a value counts as 0. */
function meanOf(turns: readonly AnsweredResult[], measure: Measure<AnsweredResult>): number {
  return (sumOf(turns, measure) ?? 0) / turns.length;
}

/** Means a turn. */
export function tokenMeans(turns: readonly AnsweredResult[]): TokenMeans {
  const mean = (name: keyof TokenMeans): number => meanOf(turns, tokensOf[name]);
  return {
    prompt: mean('prompt'),
    kvResident: mean('kvResident'),
    evaluated: mean('evaluated'),
    ...(sumOf(turns, tokensOf.firstLayers) === null ? {} : { firstLayers: mean('firstLayers') }),
    generated: mean('generated'),
    positions: mean('positions'),
  };
}

const PHASES = ['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode'] as const;

/** Means a turn, ms. */
export function phaseMeans(turns: readonly AnsweredResult[]): PhaseMeans {
  return Object.fromEntries(PHASES.map((phase) => [phase, meanOf(turns, timingOf[phase])])) as PhaseMeans;
}
