import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Verdict } from '../../../store/records/results.ts';
import { mean, type Pair, pairItems, perItem } from '../statistics/observations.ts';
import { meanDifference, pairedTotals } from '../statistics/paired-difference.ts';
import { pairedLatency } from '../statistics/paired-latency.ts';
import { judgeDifferences, tally } from '../summary/paired-quality.ts';
import type { ArmPair } from './comparability.ts';
import type { ComparedRun, ComparedTurn } from './compared-run.ts';

/** One metric of one arm in two runs, over the items that both answered. */
export interface MetricDifference {
  readonly arms: ArmPair;
  /** A metric of quality, `evaluatedTokens`, or `ttftLogRatio`. */
  readonly metric: string;
  /** For `ttftLogRatio` geometric, ms. */
  readonly meanA: number;
  readonly meanB: number;
  /** The first run's minus the second's; for `ttftLogRatio` ln(a ÷ b), over cache hits. */
  readonly delta: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly users: number;
  /** Two-sided, sign-flip over users; null without a test. */
  readonly p: number | null;
  /** Holm over the arms compared, within this metric. */
  readonly pAdjusted: number | null;
  /** One-sided p of "the loss is the margin or more", with the same adjustment; null without a test. */
  readonly pKept: number | null;
  readonly verdict: Verdict;
  /** Items with which arms that do not differ would be called kept four times in five; for undecided ones where known. */
  readonly neededItems?: number;
  /** Items by the first run against the second; the higher score and the lower cost win. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/** The metrics that are compared beside the primary one, in this order. */
const COMPARED = ['exactMatch', 'contains', 'tokenF1', 'memoryRecall', 'abstention', 'taskSuccess', 'goldLogProb'];

export interface DifferenceSettings {
  readonly seed: number;
  /** A loss of quality that still counts as kept, in points. */
  readonly margin: number;
  /** Compare scores: the model's weights are not random. */
  readonly quality: boolean;
  /** Compare times: the runs were made on one machine. */
  readonly latency: boolean;
}

/** The turns of an arm in two runs. */
interface ComparedTurns {
  readonly arms: ArmPair;
  readonly a: readonly ComparedTurn[];
  readonly b: readonly ComparedTurn[];
}

type TurnValue = (turn: ComparedTurn) => number | null;

/** True if every common turn has the same answer, ids and probability of the gold, to the bit. */
function areIdentical({ a, b }: ComparedTurns): boolean {
  const key = ({ itemId, repeat }: ComparedTurn): string => JSON.stringify([itemId, repeat]);
  const others = new Map(b.map((turn) => [key(turn), turn]));
  return a.every((turn) => {
    const other = others.get(key(turn)) ?? turn;
    return (
      other.answer === turn.answer &&
      other.sequenceSha256 === turn.sequenceSha256 &&
      other.values['goldLogProbability'] === turn.values['goldLogProbability']
    );
  });
}

function pairTurns({ a, b }: ComparedTurns, value: TurnValue): Pair[] {
  return pairItems(perItem(a, value), perItem(b, value));
}

function means(pairs: readonly Pair[]): { meanA: number; meanB: number } {
  return { meanA: mean(pairs.map(({ a }) => a)), meanB: mean(pairs.map(({ b }) => b)) };
}

/** One metric of quality over all pairs of arms: a family of tests. */
function qualityDifferences(
  all: readonly ComparedTurns[],
  metric: MetricDeclaration,
  settings: DifferenceSettings,
): MetricDifference[] {
  const compared = all
    .map((turns) => ({
      arms: turns.arms,
      pairs: pairTurns(turns, ({ values }) => values[metric.name] ?? null),
      planned: true,
      pooled: true,
      identical: areIdentical(turns),
    }))
    .filter(({ pairs }) => pairs.length > 0);
  return judgeDifferences(metric, compared, settings).map(({ detectable: _, ...difference }, index) => {
    const { arms, pairs } = compared[index]!;
    return { arms, metric: metric.name, ...means(pairs), ...difference };
  });
}

/** The difference and interval of a quantity without a margin, and so without a verdict; empty without pairs. */
function plainDifference(
  arms: ArmPair,
  metric: string,
  pairs: readonly Pair[],
  better: 'higher' | 'lower',
): MetricDifference[] {
  if (pairs.length === 0) return [];
  const { delta, interval } = meanDifference(pairedTotals(pairs));
  return [
    {
      arms,
      metric,
      ...means(pairs),
      delta,
      ...interval,
      ...tally(pairs, better),
      p: null,
      pAdjusted: null,
      pKept: null,
      verdict: 'not judged',
    },
  ];
}

/** No verdict: the runs were not made at the same time, and no twin measures the noise between them. */
function latencyDifference(arms: ArmPair, pairs: readonly Pair[]): MetricDifference[] {
  return plainDifference(arms, 'ttftLogRatio', pairs, 'lower').map((plain) => {
    const { delta, interval, means: geometric } = pairedLatency(pairs);
    return { ...plain, delta, ...interval, meanA: geometric.a, meanB: geometric.b };
  });
}

/** Every metric of every pair of arms, paired by item, metric by metric. */
export function metricDifferences(
  a: ComparedRun,
  b: ComparedRun,
  pairs: readonly ArmPair[],
  settings: DifferenceSettings,
): MetricDifference[] {
  const all = pairs.map((arms) => ({ arms, a: a.turns.get(arms.a) ?? [], b: b.turns.get(arms.b) ?? [] }));
  const { all: known, primary } = a.metrics;
  const compared = new Set([primary, ...known.filter(({ name }) => COMPARED.includes(name))]);
  const overHits = (turns: ComparedTurns, value: TurnValue) =>
    pairTurns(turns, (turn) => (turn.hit ? value(turn) : null));
  const quality = [
    ...[...compared].flatMap((metric) => qualityDifferences(all, metric, settings)),
    ...all.flatMap((turns) => {
      const values = pairTurns(turns, (turn) => turn.values['goldLogProbability'] ?? null);
      return plainDifference(turns.arms, 'goldLogProbability', values, 'higher');
    }),
  ];
  const tokens = all.flatMap((turns) => {
    const values = overHits(turns, ({ evaluatedTokens }) => evaluatedTokens);
    return plainDifference(turns.arms, 'evaluatedTokens', values, 'lower');
  });
  const latency = all.flatMap((turns) =>
    latencyDifference(
      turns.arms,
      overHits(turns, ({ firstTokenMs }) => firstTokenMs),
    ),
  );
  return [...(settings.quality ? quality : []), ...tokens, ...(settings.latency ? latency : [])];
}
