import type { Comparison } from '../../../store/records/run-results.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { counterpartIn, type Turns } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import { mean, type Pair, pairItems, perItem } from '../statistics/observations.ts';
import { meanDifference, pairedTotals } from '../statistics/paired-difference.ts';
import { pairedLatency } from '../statistics/paired-latency.ts';
import { judgeDifferences, tally } from '../statistics/paired-quality.ts';
import type { ArmPair, RunToCompare } from './run-to-compare.ts';

/** One metric of one arm in two runs, over the items that both answered: the first run's value minus the second's. */
export interface MetricDifference extends Omit<Comparison, 'a' | 'b' | 'means' | 'detectable'> {
  readonly arms: ArmPair;
  /** Of `ttftLogRatio`, the geometric mean in ms. */
  readonly meanA: number;
  readonly meanB: number;
}

/** The metrics that are compared besides the primary one, in this order. */
const COMPARED = ['exactMatch', 'contains', 'tokenF1', 'memoryRecall', 'abstention', 'taskSuccess', 'goldLogProb'];

interface DifferenceSettings {
  readonly seed: number;
  /** A loss of quality that still counts as kept, in points. */
  readonly margin: number;
  /** Compare scores: the model's weights are not random. */
  readonly quality: boolean;
  /** Compare times: the runs were made on one machine. */
  readonly latency: boolean;
}

interface ComparedTurns extends Readonly<Record<'a' | 'b', Turns>> {
  readonly arms: ArmPair;
}

type TurnValue = (turn: AnsweredResult) => number | null;

/** True if all common turns have the same answer and ids, and bitwise the same probability of the gold. */
function areIdentical({ a, b }: ComparedTurns): boolean {
  const counterpart = counterpartIn(b);
  return a.every((turn) => {
    const other = counterpart(turn) ?? turn;
    return (
      other.answer.text === turn.answer.text &&
      other.observed.sequenceSha256 === turn.observed.sequenceSha256 &&
      other.observed.goldLogProbability === turn.observed.goldLogProbability
    );
  });
}

function pairTurns({ a, b }: ComparedTurns, value: TurnValue): Pair[] {
  return pairItems(perItem(a, value), perItem(b, value));
}

function means(pairs: readonly Pair[]): { meanA: number; meanB: number } {
  return { meanA: mean(pairs.map(({ a }) => a)), meanB: mean(pairs.map(({ b }) => b)) };
}

function qualityDifferences(all: readonly ComparedTurns[], metric: MetricDefinition, settings: DifferenceSettings) {
  const compared = all.flatMap((turns) => {
    const pairs = pairTurns(turns, metric.of);
    // Runs of two versions of the scoring rules score the same answers otherwise.
    const identical = areIdentical(turns) && pairs.every((pair) => pair.a === pair.b);
    return pairs.length === 0 ? [] : [{ arms: turns.arms, pairs, identical, planned: true, pooled: true }];
  });
  return judgeDifferences(metric, compared, settings).map(({ detectable: _, ...difference }, index) => {
    const { arms, pairs } = compared[index]!;
    return { arms, metric: metric.name, ...means(pairs), ...difference };
  });
}

/** The difference of a quantity that has no margin and so no verdict; of times, the mean log-ratio. */
function plainDifference(turns: ComparedTurns, metric: string, better: 'higher' | 'lower', value: TurnValue) {
  const pairs = pairTurns(turns, value);
  if (pairs.length === 0) return [];
  const ratio = metric === 'ttftLogRatio' ? pairedLatency(pairs) : undefined;
  const { delta, interval } = ratio ?? meanDifference(pairedTotals(pairs));
  const averages = ratio === undefined ? means(pairs) : { meanA: ratio.means.a, meanB: ratio.means.b };
  const noTest = { p: null, pAdjusted: null, pKept: null, verdict: 'not judged' } as const;
  return [{ arms: turns.arms, metric, ...averages, delta, ...interval, ...tally(pairs, better), ...noTest }];
}

/** Compares every metric for every pair of arms, item by item; costs on items that were cache hits in both runs. */
export function metricDifferences(
  a: RunToCompare,
  b: RunToCompare,
  pairs: readonly ArmPair[],
  settings: DifferenceSettings,
): MetricDifference[] {
  const all = pairs.map((arms) => ({ arms, a: a.turns(arms.a), b: b.turns(arms.b) }));
  const { all: known, primary } = a.metrics;
  const compared = new Set([primary, ...known.filter(({ name }) => COMPARED.includes(name))]);
  const plain = (metric: string, better: 'higher' | 'lower', value: TurnValue) =>
    all.flatMap((turns) => plainDifference(turns, metric, better, value));
  const ifHit = (turn: AnsweredResult, value: number) => (a.hits.has(turn) || b.hits.has(turn) ? value : null);
  const judged = settings.quality ? [...compared] : [];
  return [
    ...judged.flatMap((metric) => qualityDifferences(all, metric, settings)),
    ...(settings.quality ? plain('goldLogProbability', 'higher', ({ observed }) => observed.goldLogProbability) : []),
    ...plain('evaluatedTokens', 'lower', (turn) => ifHit(turn, turn.tokens.evaluated)),
    ...(settings.latency ? plain('ttftLogRatio', 'lower', (turn) => ifHit(turn, turn.timings.firstToken)) : []),
  ];
}
