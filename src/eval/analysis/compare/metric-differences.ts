import type { MetricDeclaration } from '../../../records/metric-declaration.ts';
import type { Verdict } from '../../../records/results.ts';
import { bootstrapDifference } from '../statistics/bootstrap.ts';
import { holm } from '../statistics/holm.ts';
import { differences, meanOf, type PairedObservation } from '../statistics/observations.ts';
import { pairedLatency } from '../statistics/paired-latency.ts';
import { paired, perItem } from '../statistics/per-item.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { asGain, judgeQuality, marginOf } from '../statistics/verdict.ts';
import { differenceInterval, tally } from '../summary/comparisons.ts';
import type { ArmPair } from './comparability.ts';
import type { ComparedRun, ComparedTurn } from './compared-run.ts';

/** One metric of one arm in two runs, over the items that both answered. */
export interface MetricDifference {
  readonly arms: ArmPair;
  /** The name of a metric of quality; or `evaluatedTokens`, or `ttftLogRatio`. */
  readonly metric: string;
  readonly meanA: number;
  readonly meanB: number;
  /** The first run's minus the second's; for `ttftLogRatio` ln(a ÷ b), of cache hits. */
  readonly delta: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly users: number;
  /** Two-sided, sign-flip over users; null where no test is made. */
  readonly p: number | null;
  /** Holm over the arms compared, within this metric. */
  readonly pAdjusted: number | null;
  readonly verdict: Verdict;
  /** Items needed to decide, where undecided. */
  readonly neededItems?: number;
  /** Items by the first run against the second; the higher score and the lower cost win. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/** The metrics that are compared beside the primary one, in their order. */
const COMPARED = ['exactMatch', 'contains', 'tokenF1', 'memoryRecall', 'abstention', 'taskSuccess', 'goldLogProb'];

export interface DifferenceSettings {
  readonly seed: number;
  /** A loss of quality that still counts as kept, in points. */
  readonly margin: number;
  /** Scores are compared: the model's weights are not random. */
  readonly quality: boolean;
  /** Times are compared: the runs were made on one machine. */
  readonly latency: boolean;
}

/** Two arms' turns: those that both runs answered. */
class PairedTurns {
  readonly arms: ArmPair;
  readonly #a: readonly ComparedTurn[];
  readonly #b: readonly ComparedTurn[];

  constructor(arms: ArmPair, a: ComparedRun, b: ComparedRun) {
    this.arms = arms;
    this.#a = a.turns.get(arms.a) ?? [];
    this.#b = b.turns.get(arms.b) ?? [];
  }

  pairs(value: (turn: ComparedTurn) => number | null): PairedObservation[] {
    return paired(perItem(this.#a, value), perItem(this.#b, value));
  }

  /** Over the turns that were cache hits in both runs. */
  hitPairs(value: (turn: ComparedTurn) => number): PairedObservation[] {
    return this.pairs((turn) => (turn.hit ? value(turn) : null));
  }

  /** Every common turn has the same answer from the same ids and the same probability of the gold, to the bit. */
  identical(): boolean {
    const key = ({ itemId, repeat }: ComparedTurn): string => JSON.stringify([itemId, repeat]);
    const others = new Map(this.#b.map((turn) => [key(turn), turn]));
    return this.#a.every((turn) => {
      const other = others.get(key(turn));
      return (
        other === undefined ||
        (other.answer === turn.answer &&
          other.sequenceSha256 === turn.sequenceSha256 &&
          other.values['goldLogProbability'] === turn.values['goldLogProbability'])
      );
    });
  }
}

function meansOf(pairs: readonly PairedObservation[]): { meanA: number; meanB: number } {
  return {
    meanA: meanOf(pairs.map(({ userId, a }) => ({ userId, value: a }))),
    meanB: meanOf(pairs.map(({ userId, b }) => ({ userId, value: b }))),
  };
}

function qualityDifference(
  turns: PairedTurns,
  metric: MetricDeclaration,
  { seed, margin }: DifferenceSettings,
): MetricDifference | null {
  const pairs = turns.pairs(({ values }) => values[metric.name] ?? null);
  if (pairs.length === 0) return null;
  const identical = turns.identical();
  const delta = meanOf(differences(pairs));
  const interval = identical ? { low: 0, high: 0 } : differenceInterval(pairs, seed, metric.unit);
  const difference = { delta, ...interval, n: pairs.length, identical };
  return {
    arms: turns.arms,
    metric: metric.name,
    ...meansOf(pairs),
    delta,
    ...interval,
    ...tally(pairs, metric.direction),
    p: signFlipP(pairs, seed),
    pAdjusted: null,
    ...judgeQuality(asGain(difference, metric), marginOf(metric, margin)),
  };
}

/** A quantity without a margin: its difference and interval, and no verdict. */
function plainDifference(
  turns: PairedTurns,
  metric: string,
  pairs: readonly PairedObservation[],
  better: 'higher' | 'lower',
  seed: number,
): MetricDifference | null {
  if (pairs.length === 0) return null;
  return {
    arms: turns.arms,
    metric,
    ...meansOf(pairs),
    delta: meanOf(differences(pairs)),
    ...bootstrapDifference(pairs, seed),
    ...tally(pairs, better),
    p: null,
    pAdjusted: null,
    verdict: 'not judged',
  };
}

/** No verdict: runs follow one another in time, and no twin measures the noise between them. */
function latencyDifference(turns: PairedTurns, seed: number): MetricDifference | null {
  const pairs = turns.hitPairs(({ firstTokenMs }) => firstTokenMs);
  const plain = plainDifference(turns, 'ttftLogRatio', pairs, 'lower', seed);
  return plain === null ? null : { ...plain, ...pairedLatency(pairs, seed) };
}

/** Each metric is a family of its own: the arms compared. */
function adjusted(compared: readonly MetricDifference[]): MetricDifference[] {
  const values = holm(compared.map(({ p }) => p!));
  return compared.map((difference, index) => ({ ...difference, pAdjusted: values[index]! }));
}

/** Every metric of every pair of arms, paired by item, metric by metric. */
export function metricDifferences(
  a: ComparedRun,
  b: ComparedRun,
  pairs: readonly ArmPair[],
  settings: DifferenceSettings,
): MetricDifference[] {
  const { seed, quality, latency } = settings;
  const both = pairs.map((arms) => new PairedTurns(arms, a, b));
  const of = (compare: (turns: PairedTurns) => MetricDifference | null): MetricDifference[] =>
    both.flatMap((turns) => compare(turns) ?? []);
  const { all: known, primary } = a.metrics;
  const compared = [primary, ...known.filter(({ name }) => COMPARED.includes(name))];
  const goldLogProbability = (turns: PairedTurns): MetricDifference | null => {
    const values = turns.pairs((turn) => turn.values['goldLogProbability'] ?? null);
    return plainDifference(turns, 'goldLogProbability', values, 'higher', seed);
  };
  const evaluatedTokens = (turns: PairedTurns): MetricDifference | null => {
    const values = turns.hitPairs((turn) => turn.evaluatedTokens);
    return plainDifference(turns, 'evaluatedTokens', values, 'lower', seed);
  };
  return [
    ...(quality
      ? [
          ...[...new Set(compared)].flatMap((metric) =>
            adjusted(of((turns) => qualityDifference(turns, metric, settings))),
          ),
          ...of(goldLogProbability),
        ]
      : []),
    ...of(evaluatedTokens),
    ...(latency ? of((turns) => latencyDifference(turns, seed)) : []),
  ];
}
