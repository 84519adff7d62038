import type { Cost, PhaseMeans, TokenMeans } from '../../../store/records/run-results.ts';
import type { Estimate } from '../../../store/records/estimate.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import type { Turns } from '../turns-by-arm.ts';
import { estimateLatency } from '../statistics/estimate-mean.ts';
import { mean, perItem } from '../statistics/observations.ts';

/** Mean time over items, ms, and quantiles over turns. */
export function latency(turns: Turns, part: 'firstToken' | 'total'): Estimate | null {
  const time = ({ timings }: AnsweredResult): number => timings[part];
  return estimateLatency(perItem(turns, time), turns.map(time));
}

export function meanOver(turns: Turns, value: (turn: AnsweredResult) => number): number {
  return mean(turns.map(value));
}

export function tokenMeans(turns: Turns): TokenMeans {
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
