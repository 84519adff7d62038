import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Comparison, CostName, Verdict } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { holm } from '../statistics/holm.ts';
import type { Interval } from '../statistics/interval.ts';
import { meanOf, type PairedObservations } from '../statistics/observations.ts';
import { meanDifference } from '../statistics/paired-difference.ts';
import { judgeLatency, noiseFloor, pairedLatency } from '../statistics/paired-latency.ts';
import { pairedTotals } from '../statistics/paired-totals.ts';
import { type Measure, paired, perItem } from '../statistics/per-item.ts';
import { signFlipP } from '../statistics/sign-flip.ts';
import { LEAST_USERS, LEVEL } from '../statistics/verdict.ts';
import type { ComparedArms } from './compared-arms.ts';
import { isPlanned } from './quality-comparisons.ts';
import { tally } from './tally.ts';
import { timingOf, tokensOf } from '../turn-measures.ts';

/** A cost over a set of turns: how it is read, compared and judged. */
interface Cost {
  readonly name: CostName;
  readonly over: 'hits' | 'all';
  readonly measure: Measure<AnsweredResult>;
  readonly compare: (pairs: PairedObservations) => ComparedCost;
  /** Null for a cost that is shown and not tested. */
  readonly judge: ((tested: TestedCost, floor: number | undefined) => Verdict) | null;
}

interface ComparedCost {
  readonly delta: number;
  readonly interval: Interval;
  readonly means: { readonly a: number; readonly b: number };
  readonly sums: Float64Array;
}

interface TestedCost {
  readonly delta: number;
  readonly users: number;
  readonly pAdjusted: number;
}

function compareTokens(pairs: PairedObservations): ComparedCost {
  const { differences } = pairedTotals(pairs);
  return {
    ...meanDifference({ differences }),
    means: { a: meanOf(pairs.a), b: meanOf(pairs.b) },
    sums: differences.sums,
  };
}

function judgeTokens({ delta, users, pAdjusted }: TestedCost): Verdict {
  if (users < LEAST_USERS) return 'too few users';
  if (pAdjusted >= LEVEL) return 'undecided';
  return delta < 0 ? 'fewer' : 'more';
}

const time = { measure: timingOf.firstToken, compare: pairedLatency };
const tokens = { measure: tokensOf.evaluated, compare: compareTokens };

/** Costs in the order of the results: over cache hits, where they are tested, and over all turns. */
const costs: readonly Cost[] = [
  { ...time, name: 'ttftLogRatio', over: 'hits', judge: (tested, floor) => judgeLatency({ ...tested, floor }) },
  { ...tokens, name: 'evaluatedTokens', over: 'hits', judge: judgeTokens },
  { ...time, name: 'ttftLogRatioAll', over: 'all', judge: null },
  { ...tokens, name: 'evaluatedTokensAll', over: 'all', judge: null },
];

/** One cost of some arms against another arm; a family of tests where one was planned. */
function against(
  cost: Cost,
  opponent: string,
  arms: readonly ArmTraits[],
  { byArm, regime, twin, baseline, seed }: ComparedArms,
  isTested: (arm: ArmTraits) => boolean,
): Comparison[] {
  const pairsOf = (a: string, b: string): PairedObservations => {
    const of = (arm: string): ReturnType<typeof perItem> => {
      const turns = byArm.get(arm)!;
      return perItem(cost.over === 'hits' ? regime.hits(turns) : turns, cost.measure);
    };
    return paired(of(a), of(b));
  };
  const compared = arms.flatMap((arm) => {
    const pairs = pairsOf(arm.name, opponent);
    if (pairs.a.length === 0) return [];
    const found = cost.compare(pairs);
    const tested = cost.judge !== null && isTested(arm);
    return [{ arm, found, counts: tally(pairs, 'lower'), p: tested ? signFlipP(found, seed) : null }];
  });
  const twins = twin === undefined ? undefined : pairsOf(twin, baseline);
  const floor = twins === undefined || twins.a.length === 0 ? undefined : noiseFloor(cost.compare(twins).interval);
  const tested = compared.filter(({ p }) => p !== null);
  const adjusted = holm(tested.map(({ p }) => p!));
  return compared.map((one): Comparison => {
    const { arm, found, counts, p } = one;
    const pAdjusted = p === null ? null : adjusted[tested.indexOf(one)]!;
    const { delta, means } = found;
    return {
      a: arm.name,
      b: opponent,
      metric: cost.name,
      delta,
      ...found.interval,
      means,
      ...counts,
      detectable: null,
      p,
      pAdjusted,
      pKept: null,
      verdict:
        pAdjusted === null || cost.judge === null
          ? 'not judged'
          : cost.judge({ delta, users: counts.users, pAdjusted }, floor),
    };
  });
}

/**
 * Costs of every arm, paired by item. Those of the planned arms that inject are tested against prefix caching, which has the
 * same to win, or against the baseline where it did not run; all others are shown. Each cost is a family of its own.
 */
export function costComparisons(arms: ComparedArms): Comparison[] {
  const { others, baseline, prefixCache } = arms;
  const injecting = others.filter(({ injects, control }) => injects !== 'nothing' && control === null);
  const isTested = (arm: ArmTraits): boolean => isPlanned(arm) && arm.injects !== 'nothing';
  const never = (): boolean => false;
  const shown = costs.filter(({ over }) => over === 'hits' || arms.regime.divides);
  return shown.flatMap((cost) => [
    ...(prefixCache === undefined ? [] : against(cost, prefixCache, injecting, arms, isTested)),
    ...against(cost, baseline, others, arms, prefixCache === undefined ? isTested : never),
  ]);
}
