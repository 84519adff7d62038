import type { Estimate, PhaseMeans, QualityEstimates, TokenMeans } from '../../../records/results.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import type { MetricDefinition } from '../metrics/metric-definition.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { estimateLatency, estimateMean, estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/per-item.ts';
import type { DesignEffects } from './design-effects.ts';

/** Mean and interval of one metric over some turns of one arm; null where it is defined of none of them. */
export function estimateOf(
  metric: MetricDefinition,
  turns: readonly AnsweredResult[],
  effects: DesignEffects,
): Estimate | null {
  const values = perItem(turns, (turn) => metric.of(turn));
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
  return estimateLatency(perItem(turns, (turn) => turn.timings[part]));
}

/** Means a turn. */
export function tokenMeans(turns: readonly AnsweredResult[]): TokenMeans {
  const of = (column: keyof TokenMeans): number =>
    turns.reduce((sum, { tokens }) => sum + (tokens[column] ?? 0), 0) / turns.length;
  return {
    prompt: of('prompt'),
    kvResident: of('kvResident'),
    evaluated: of('evaluated'),
    ...(turns.some(({ tokens }) => tokens.firstLayers !== undefined) ? { firstLayers: of('firstLayers') } : {}),
    generated: of('generated'),
    positions: of('positions'),
  };
}

const PHASES = ['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode'] as const;

/** Means a turn, ms. */
export function phaseMeans(turns: readonly AnsweredResult[]): PhaseMeans {
  const mean = (phase: keyof PhaseMeans): number =>
    turns.reduce((sum, { timings }) => sum + timings[phase], 0) / turns.length;
  return Object.fromEntries(PHASES.map((phase) => [phase, mean(phase)])) as PhaseMeans;
}
