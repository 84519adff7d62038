import type { MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import type { Verdict } from '../../../store/records/results.ts';
import { meanOf, type PairedObservations } from '../statistics/observations.ts';
import { meanDifference } from '../statistics/paired-difference.ts';
import { pairedLatency } from '../statistics/paired-latency.ts';
import { pairedTotals } from '../statistics/paired-totals.ts';
import { paired, perItem } from '../statistics/per-item.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { judgeFamily, marginOf } from '../statistics/verdict.ts';
import { asDifference, gainOf, pooledEffect } from '../summary/paired-quality.ts';
import { tally } from '../summary/tally.ts';
import type { ArmPair } from './comparability.ts';
import type { ComparedRun, ComparedTurn } from './compared-run.ts';

/** One metric of one arm in two runs, over the items that both answered. */
export interface MetricDifference {
  readonly arms: ArmPair;
  /** The name of a metric of quality; or `evaluatedTokens`, or `ttftLogRatio`. */
  readonly metric: string;
  /** For `ttftLogRatio` geometric, ms. */
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
  /** One-sided p of "the loss is the margin or more", Holm over the same; null where no test is made. */
  readonly pKept: number | null;
  readonly verdict: Verdict;
  /** Items with which arms that do not differ would be called kept four times in five; where undecided and known. */
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

  pairs(value: (turn: ComparedTurn) => number | null): PairedObservations {
    return paired(perItem(this.#a, value), perItem(this.#b, value));
  }

  /** Over the turns that were cache hits in both runs. */
  hitPairs(value: (turn: ComparedTurn) => number): PairedObservations {
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

function meansOf({ a, b }: PairedObservations): { meanA: number; meanB: number } {
  return { meanA: meanOf(a), meanB: meanOf(b) };
}

/** One metric of quality of all pairs of arms: a family of tests. */
function qualityDifferences(
  all: readonly PairedTurns[],
  metric: MetricDeclaration,
  { seed, margin }: DifferenceSettings,
): MetricDifference[] {
  const compared = all
    .map((turns) => ({ turns, pairs: turns.pairs(({ values }) => values[metric.name] ?? null) }))
    .filter(({ pairs }) => pairs.a.length > 0);
  const effect = pooledEffect(compared.map(({ pairs }) => pairs)) ?? 1;
  const measured = compared.map(({ turns, pairs }) => {
    const counts = tally(pairs, metric.direction);
    const gain = gainOf(pairs, metric, effect);
    const p = signFlipP(pairedTotals(pairs).differences, seed);
    const member = { gain, users: counts.users, identical: turns.identical(), p, effect: metric.unit === '%' ? effect : undefined }; // prettier-ignore
    return { turns, pairs, counts, member };
  });
  const judged = judgeFamily(
    measured.map(({ member }) => member),
    marginOf(metric, margin),
  );
  return measured.map(({ turns, pairs, counts, member: { gain, identical, p } }, place) => ({
    arms: turns.arms,
    metric: metric.name,
    ...meansOf(pairs),
    ...asDifference(identical ? { delta: 0, interval: { low: 0, high: 0 } } : gain, metric),
    ...counts,
    p,
    ...judged[place]!,
  }));
}

/** A quantity without a margin: its difference and interval, and no verdict. */
function plainDifference(
  turns: PairedTurns,
  metric: string,
  pairs: PairedObservations,
  better: 'higher' | 'lower',
): MetricDifference | null {
  if (pairs.a.length === 0) return null;
  const { delta, interval } = meanDifference(pairedTotals(pairs));
  return {
    arms: turns.arms,
    metric,
    ...meansOf(pairs),
    delta,
    ...interval,
    ...tally(pairs, better),
    p: null,
    pAdjusted: null,
    pKept: null,
    verdict: 'not judged',
  };
}

/** No verdict: runs follow one another in time, and no twin measures the noise between them. */
function latencyDifference(turns: PairedTurns): MetricDifference | null {
  const pairs = turns.hitPairs(({ firstTokenMs }) => firstTokenMs);
  const plain = plainDifference(turns, 'ttftLogRatio', pairs, 'lower');
  if (plain === null) return null;
  const { delta, interval, means } = pairedLatency(pairs);
  return { ...plain, delta, ...interval, meanA: means.a, meanB: means.b };
}

/** Every metric of every pair of arms, paired by item, metric by metric. */
export function metricDifferences(
  a: ComparedRun,
  b: ComparedRun,
  pairs: readonly ArmPair[],
  settings: DifferenceSettings,
): MetricDifference[] {
  const { quality, latency } = settings;
  const both = pairs.map((arms) => new PairedTurns(arms, a, b));
  const of = (compare: (turns: PairedTurns) => MetricDifference | null): MetricDifference[] =>
    both.flatMap((turns) => compare(turns) ?? []);
  const { all: known, primary } = a.metrics;
  const compared = [primary, ...known.filter(({ name }) => COMPARED.includes(name))];
  const goldLogProbability = (turns: PairedTurns): MetricDifference | null => {
    const values = turns.pairs((turn) => turn.values['goldLogProbability'] ?? null);
    return plainDifference(turns, 'goldLogProbability', values, 'higher');
  };
  const evaluatedTokens = (turns: PairedTurns): MetricDifference | null => {
    const values = turns.hitPairs((turn) => turn.evaluatedTokens);
    return plainDifference(turns, 'evaluatedTokens', values, 'lower');
  };
  return [
    ...(quality
      ? [
          ...[...new Set(compared)].flatMap((metric) => qualityDifferences(both, metric, settings)),
          ...of(goldLogProbability),
        ]
      : []),
    ...of(evaluatedTokens),
    ...(latency ? of((turns) => latencyDifference(turns)) : []),
  ];
}
