import type { Estimate, PhaseMeans, QualityMetric, TokenMeans } from '../../../records/results.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import { estimateLatency, estimateMean, estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/per-item.ts';

/** Scores between 0 and 1, of which all items may have the same. */
const SHARES = ['exactMatch', 'tokenF1', 'memoryRecall', 'abstention', 'taskSuccess', 'rougeL', 'bleu'] as const;

/** One metric of quality over some turns of one arm; null where it is defined of none of them. */
export function shareOf(
  turns: readonly AnsweredResult[],
  metric: (typeof SHARES)[number],
  seed: number,
): Estimate | null {
  return estimateShare(
    perItem(turns, (turn) => turn.scores[metric]),
    seed,
  );
}

/** All metrics of quality over some turns of one arm. */
export function qualityOf(turns: readonly AnsweredResult[], seed: number): Record<QualityMetric, Estimate | null> {
  const shares = Object.fromEntries(SHARES.map((metric) => [metric, shareOf(turns, metric, seed)])) as Record<
    (typeof SHARES)[number],
    Estimate | null
  >;
  const mean = (value: (turn: AnsweredResult) => number | null): Estimate | null =>
    estimateMean(perItem(turns, value), seed);
  return {
    ...shares,
    goldLogProbability: mean(({ observed }) => observed.goldLogProbability),
    freeLogProbability: mean(({ observed }) => observed.freeLogProbability),
    klDivergence: mean(({ observed }) => observed.agreement?.klDivergence ?? null),
    topOneAgreement: estimateShare(
      perItem(turns, ({ observed }) => (observed.agreement === null ? null : Number(observed.agreement.topOne))),
      seed,
    ),
  };
}

/** Milliseconds over some turns of one arm. */
export function latencyOf(
  turns: readonly AnsweredResult[],
  part: 'firstToken' | 'total',
  seed: number,
): Estimate | null {
  return estimateLatency(
    perItem(turns, (turn) => turn.timings[part]),
    seed,
  );
}

/** Means a turn. */
export function tokenMeans(turns: readonly AnsweredResult[]): TokenMeans {
  const of = (column: keyof TokenMeans): number =>
    turns.reduce((sum, turn) => sum + turn.tokens[column], 0) / turns.length;
  return {
    prompt: of('prompt'),
    kvResident: of('kvResident'),
    evaluated: of('evaluated'),
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
