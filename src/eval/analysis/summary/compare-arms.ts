import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison, CostName, Verdict } from '../../../store/records/run-results.ts';
import { counterpartIn, type Turns } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { mean, type Pair, pairItems, perItem } from '../statistics/observations.ts';
import { type ArmsByRole, armsByRole, isPlanned } from './arms-by-role.ts';
import { isPooled } from './metric-estimates.ts';
import { judgeDifferences, tally } from '../statistics/paired-quality.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { MIN_USERS, LEVEL } from '../statistics/verdict.ts';
import { holm, signFlipP } from '../statistics/p-values.ts';
import { meanDifference, pairedTotals } from '../statistics/paired-difference.ts';
import type { LatencyRatio, TestedRatio } from '../statistics/paired-latency.ts';
import { judgeLatency, noiseFloor, pairedLatency } from '../statistics/paired-latency.ts';

const SECONDARY = ['abstention', 'goldLogProb'];

interface ComparisonSettings extends Pick<ArmsByRole, 'split' | 'seed'> {
  readonly metrics: RunMetrics;
  /** Margin of metrics in %, in points. */
  readonly margin: number;
  /** The self-test was bitwise equal, so that equal bits are no coincidence. */
  readonly bitwise: boolean;
}

/** True if all answers and token ids are the same, and all probabilities have the bits of the text's. */
function areIdentical(turns: Turns, others: Turns): boolean {
  const counterpart = counterpartIn(others);
  return (
    turns.length === others.length &&
    turns.every((turn) => {
      const other = counterpart(turn);
      return (
        other?.answer.text === turn.answer.text &&
        turn.observed.sequenceSha256 === other.observed.sequenceSha256 &&
        turn.observed.parity?.bitwiseEqual === true &&
        other.observed.parity?.bitwiseEqual === true
      );
    })
  );
}

/** Compares every arm with the baseline, costs also with prefix caching; each metric or cost is a family of tests. */
export function compareArms(
  answered: Turns,
  arms: readonly ArmTraits[],
  { metrics: { all, primary }, margin, bitwise, split, seed }: ComparisonSettings,
): Comparison[] {
  const compared = armsByRole(answered, arms, { split, seed });
  if (compared === undefined) return [];
  const { byArm, others, baseline } = compared;
  const base = byArm.get(baseline)!;
  const byMetric = (metric: MetricDefinition): Comparison[] => {
    const baseValues = perItem(base, metric.of);
    const tested = others.flatMap((arm) => {
      const turns = byArm.get(arm.name)!;
      const pairs = pairItems(perItem(turns, metric.of), baseValues);
      if (pairs.length === 0) return [];
      const identical = bitwise && areIdentical(turns, base);
      return [{ name: arm.name, pairs, planned: isPlanned(arm), pooled: isPooled(arm), identical }];
    });
    const judged = judgeDifferences(metric, tested, { seed, margin });
    return tested.map(({ name }, index) => ({ a: name, b: baseline, metric: metric.name, ...judged[index]! }));
  };
  const secondary = all.filter((metric) => SECONDARY.includes(metric.name) && metric !== primary);
  return [...byMetric(primary), ...costComparisons(compared), ...secondary.flatMap(byMetric)];
}

interface ComparedCost {
  readonly name: CostName;
  readonly over: 'hits' | 'all';
  readonly value: (turn: AnsweredResult) => number;
  readonly compare: (pairs: readonly Pair[]) => LatencyRatio;
  /** Null for a cost that is shown without a test. */
  readonly judge: ((tested: TestedRatio) => Verdict) | null;
}

function compareTokens(pairs: readonly Pair[]): LatencyRatio {
  const { differences } = pairedTotals(pairs);
  return {
    ...meanDifference({ differences }),
    means: { a: mean(pairs.map(({ a }) => a)), b: mean(pairs.map(({ b }) => b)) },
    sums: differences.sums,
  };
}

function judgeTokens({ delta, users, pAdjusted }: TestedRatio): Verdict {
  if (users < MIN_USERS) return 'too few users';
  if (pAdjusted >= LEVEL) return 'undecided';
  return delta < 0 ? 'fewer' : 'more';
}

const time = { value: ({ timings }: AnsweredResult) => timings.firstToken, compare: pairedLatency };
const tokens = { value: (turn: AnsweredResult) => turn.tokens.evaluated, compare: compareTokens };

/** Costs in the order of the results: over cache hits, where they are tested, and over all turns. */
const costs: readonly ComparedCost[] = [
  { ...time, name: 'ttftLogRatio', over: 'hits', judge: judgeLatency },
  { ...tokens, name: 'evaluatedTokens', over: 'hits', judge: judgeTokens },
  { ...time, name: 'ttftLogRatioAll', over: 'all', judge: null },
  { ...tokens, name: 'evaluatedTokensAll', over: 'all', judge: null },
];

/** Compares one cost of several arms with that of `opponent`; the arms with `isTested` are a family of tests. */
function compareCost(
  cost: ComparedCost,
  opponent: string,
  arms: readonly { readonly name: string; readonly isTested: boolean }[],
  { byArm, split, twin, baseline, seed }: ArmsByRole,
): Comparison[] {
  const values = (arm: string) => {
    const turns = byArm.get(arm)!;
    return perItem(cost.over === 'hits' ? split.hits(turns) : turns, cost.value);
  };
  const opponentValues = values(opponent);
  const compared = arms.flatMap(({ name, isTested }) => {
    const pairs = pairItems(values(name), opponentValues);
    if (pairs.length === 0) return [];
    const found = cost.compare(pairs);
    const p = cost.judge !== null && isTested ? signFlipP(found, seed) : null;
    return [{ name, found, counts: tally(pairs, 'lower'), p }];
  });
  const twins = twin === undefined ? [] : pairItems(values(twin), values(baseline));
  const floor = twins.length === 0 ? undefined : noiseFloor(cost.compare(twins).interval);
  const adjusted = holm(compared.map(({ p }) => p));
  return compared.map(({ name, counts, p, found }, index): Comparison => {
    const { delta, interval, means } = found;
    const pAdjusted = adjusted[index] ?? null;
    const judge = pAdjusted === null ? null : cost.judge;
    const verdict = judge?.({ delta, users: counts.users, pAdjusted: pAdjusted!, floor }) ?? 'not judged';
    const test = { detectable: null, p, pAdjusted, pKept: null, verdict };
    return { a: name, b: opponent, metric: cost.name, delta, ...interval, means, ...counts, ...test };
  });
}

/** Costs of every arm, tested for planned arms that inject: against prefix caching if it ran, else the baseline. */
function costComparisons(arms: ArmsByRole): Comparison[] {
  const { others, baseline, prefixCache } = arms;
  const injects = (arm: ArmTraits): boolean => arm.injects !== 'nothing';
  const withTests = (some: readonly ArmTraits[], isOpponent: boolean) =>
    some.map((arm) => ({ name: arm.name, isTested: isOpponent && isPlanned(arm) && injects(arm) }));
  const injecting = others.filter((arm) => injects(arm) && arm.control === null);
  const shown = costs.filter(({ over }) => over === 'hits' || arms.split.hasPrimary);
  return shown.flatMap((cost) => [
    ...(prefixCache === undefined ? [] : compareCost(cost, prefixCache, withTests(injecting, true), arms)),
    ...compareCost(cost, baseline, withTests(others, prefixCache === undefined), arms),
  ]);
}
