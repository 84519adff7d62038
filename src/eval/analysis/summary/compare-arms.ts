import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison, Verdict } from '../../../store/records/run-results.ts';
import { counterpartIn, type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { mean, type Pair, pairItems, perItem } from '../statistics/observations.ts';
import { type CacheSplit, isPlanned, prefixCacheArm } from './arms-by-role.ts';
import { isPooled } from './metric-estimates.ts';
import { judgeDifferences, tally } from '../statistics/paired-quality.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { MIN_USERS, LEVEL } from '../statistics/verdict.ts';
import { holm, signFlipP } from '../statistics/p-values.ts';
import { meanDifference, pairedTotals } from '../statistics/paired-difference.ts';
import type { LatencyRatio, TestedRatio } from '../statistics/paired-latency.ts';
import { judgeLatency, noiseFloor, pairedLatency } from '../statistics/paired-latency.ts';

const SECONDARY = ['abstention', 'goldLogProb'];

interface ComparisonSettings {
  readonly metrics: RunMetrics;
  readonly split: CacheSplit;
  readonly seed: number;
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
  const ran = arms.filter(({ name }) => turnsOfArm(answered, name).length > 0);
  const baseline = ran.find(({ comparison }) => comparison === 'baseline');
  if (baseline === undefined) return [];
  const base = turnsOfArm(answered, baseline.name);
  const byMetric = (metric: MetricDefinition): Comparison[] => {
    const baseValues = perItem(base, metric.of);
    const tested = ran.flatMap((arm) => {
      const turns = turnsOfArm(answered, arm.name);
      const pairs = arm === baseline ? [] : pairItems(perItem(turns, metric.of), baseValues);
      if (pairs.length === 0) return [];
      const identical = bitwise && areIdentical(turns, base);
      return [{ name: arm.name, pairs, planned: isPlanned(arm), pooled: isPooled(arm), identical }];
    });
    const judged = judgeDifferences(metric, tested, { seed, margin });
    return tested.map(({ name }, index) => ({ a: name, b: baseline.name, metric: metric.name, ...judged[index]! }));
  };
  const secondary = all.filter((metric) => SECONDARY.includes(metric.name) && metric !== primary);
  const ofCosts = costComparisons(ran, baseline, { answered, split, seed });
  return [...byMetric(primary), ...ofCosts, ...secondary.flatMap(byMetric)];
}

interface ComparedTurns extends Pick<ComparisonSettings, 'split' | 'seed'> {
  readonly answered: Turns;
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

/** Costs in the order of the results: over cache hits, where they are tested, and over all turns, shown without a test. */
const costs = [
  { ...time, name: 'ttftLogRatio', over: 'hits', judge: judgeLatency },
  { ...tokens, name: 'evaluatedTokens', over: 'hits', judge: judgeTokens },
  { ...time, name: 'ttftLogRatioAll', over: 'all', judge: null },
  { ...tokens, name: 'evaluatedTokensAll', over: 'all', judge: null },
] as const;

type ComparedCost = (typeof costs)[number];

/** Costs of every arm, tested for planned arms that inject: against prefix caching if it ran, else the baseline. */
function costComparisons(ran: readonly ArmTraits[], baseline: ArmTraits, turns: ComparedTurns): Comparison[] {
  const others = ran.filter((arm) => arm !== baseline);
  const prefixCache = prefixCacheArm(ran);
  const twin = ran.find(({ control }) => control === 'twin');
  const injecting = others.filter(({ injects, control }) => injects !== 'nothing' && control === null);
  const shown = costs.filter(({ over }) => over === 'hits' || turns.split.hasPrimary);
  return shown.flatMap((cost) => {
    const pairs = pairsByCost(cost, turns);
    const twins = twin === undefined ? [] : pairs(twin, baseline);
    const floor = twins.length === 0 ? undefined : noiseFloor(cost.compare(twins).interval);
    const against = (opponent: ArmTraits, arms: readonly ArmTraits[], isTested: boolean) =>
      compareCost(cost, opponent, arms, { pairs, floor, isTested, seed: turns.seed });
    return [
      ...(prefixCache === undefined ? [] : against(prefixCache, injecting, true)),
      ...against(baseline, others, prefixCache === undefined),
    ];
  });
}

/** Returns a function that pairs the costs of two arms by item. */
function pairsByCost({ over, value }: ComparedCost, { answered, split }: ComparedTurns) {
  const values = ({ name }: ArmTraits) => {
    const turns = turnsOfArm(answered, name);
    return perItem(over === 'hits' ? split.hits(turns) : turns, value);
  };
  return (arm: ArmTraits, other: ArmTraits): Pair[] => pairItems(values(arm), values(other));
}

interface CostTest {
  readonly pairs: ReturnType<typeof pairsByCost>;
  /** Noise between arms that do the same work; undefined without a twin. */
  readonly floor: number | undefined;
  /** The planned arms that inject are a family of tests. */
  readonly isTested: boolean;
  readonly seed: number;
}

/** Compares one cost of several arms with that of `opponent`. */
function compareCost(
  { name: metric, compare, judge }: ComparedCost,
  opponent: ArmTraits,
  arms: readonly ArmTraits[],
  { pairs: pairsOf, floor, isTested, seed }: CostTest,
): Comparison[] {
  const compared = arms.flatMap((arm) => {
    const pairs = pairsOf(arm, opponent);
    if (pairs.length === 0) return [];
    const found = compare(pairs);
    const p = judge !== null && isTested && isPlanned(arm) && arm.injects !== 'nothing' ? signFlipP(found, seed) : null;
    return [{ a: arm.name, found, counts: tally(pairs, 'lower'), p }];
  });
  const adjusted = holm(compared.map(({ p }) => p));
  return compared.map(({ a, counts, p, found: { delta, interval, means } }, index): Comparison => {
    const pAdjusted = adjusted[index] ?? null;
    const verdict = pAdjusted === null ? 'not judged' : judge!({ delta, users: counts.users, pAdjusted, floor });
    const test = { detectable: null, p, pAdjusted, pKept: null, verdict };
    return { a, b: opponent.name, metric, delta, ...interval, means, ...counts, ...test };
  });
}
