import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { Comparison } from '../../../store/records/run-results.ts';
import type { Interval } from './intervals.ts';
import { pairedDesignEffect } from './design-effect.ts';
import { countUsers, type Pair, sideValues, unitTotals } from './observations.ts';
import { meanDifference, type PairedDifference, pairedTotals, shareDifference } from './paired-difference.ts';
import { judgeFamily, type Judgement, marginOf, minimumDetectableEffect } from './verdict.ts';
import { mcnemar, signFlipP } from './p-values.ts';

type Direction = Pick<MetricDeclaration, 'direction'>;
type Delta = Interval & { readonly delta: number };
type Tally = Pick<Comparison, 'wins' | 'losses' | 'ties' | 'n' | 'users'>;

/** Counts the pairs in which `a` is better, worse and equal. */
export function tally(pairs: readonly Pair[], better: 'higher' | 'lower'): Tally {
  const higher = pairs.filter(({ a, b }) => a > b).length;
  const lower = pairs.filter(({ a, b }) => a < b).length;
  return {
    n: pairs.length,
    users: countUsers(pairs),
    wins: better === 'higher' ? higher : lower,
    losses: better === 'higher' ? lower : higher,
    ties: pairs.length - higher - lower,
  };
}

/** Design effect, that is, how much clustering of questions by user costs, over all arms compared with one baseline; 1 without pairs. */
export function pooledEffect(arms: readonly (readonly Pair[])[]): number {
  const some = arms.filter(({ length }) => length > 0);
  if (some.length === 0) return 1;
  return pairedDesignEffect(
    [...some.map((pairs) => sideValues(pairs, 'a')), sideValues(some[0]!, 'b')].map(unitTotals),
    some.map((pairs) => pairedTotals(pairs).differences),
  );
}

/** The mean difference, positive if `a` is better. @param effect design effect, for metrics in % */
export function gain(
  pairs: readonly Pair[],
  { unit, direction }: Direction & Pick<MetricDeclaration, 'unit'>,
  effect: number,
): PairedDifference {
  const swapped = pairs.map(({ userId, a, b }) => ({ userId, a: b, b: a }));
  const totals = pairedTotals(direction === 'higher' ? pairs : swapped);
  return unit === '%' ? shareDifference(totals, effect) : meanDifference(totals);
}

/** Converts a gain back to the difference a − b. */
function asDifference(
  { delta, interval: { low, high } }: Pick<PairedDifference, 'delta' | 'interval'>,
  { direction }: Direction,
): Delta {
  return direction === 'higher' ? { delta, low, high } : { delta: -delta, low: -high, high: -low };
}

/** Mean and 95 % interval of the difference a − b of one metric between two arms. */
export function pairedDelta(pairs: readonly Pair[], metric: Direction & Pick<MetricDeclaration, 'unit'>): Delta {
  return asDifference(gain(pairs, metric, pooledEffect([pairs])), metric);
}

/** `pairedDelta` of scores from 0 to 1. */
export function shareGain(pairs: readonly Pair[]): Delta {
  return pairedDelta(pairs, { unit: '%', direction: 'higher' });
}

interface TestedArm {
  readonly pairs: readonly Pair[];
  /** A test was planned before the run; other arms are shown without one. */
  readonly planned: boolean;
  /** The arm counts towards the pooled design effect. */
  readonly pooled: boolean;
  /** Every answer was computed from the same bits as the baseline's. */
  readonly identical: boolean;
}

/** Differences of one metric between arms and their baseline, judged as one family. @param margin in points */
export function judgeDifferences(
  metric: MetricDeclaration,
  arms: readonly TestedArm[],
  { seed, margin }: { readonly seed: number; readonly margin: number },
): (Delta & Tally & Judgement & Pick<Comparison, 'detectable' | 'p' | 'mcnemar'>)[] {
  const pool = arms.filter(({ pooled }) => pooled);
  const effect = pooledEffect((pool.length > 0 ? pool : arms).map(({ pairs }) => pairs));
  const members = arms.map(({ pairs, planned, identical }) => ({
    gain: gain(pairs, metric, effect),
    users: countUsers(pairs),
    identical,
    p: planned ? signFlipP(pairedTotals(pairs).differences, seed) : null,
    effect: metric.unit === '%' ? effect : undefined,
  }));
  const judgements = judgeFamily(members, marginOf(metric, margin));
  return members.map(({ identical, gain, p }, index) => {
    const counts = tally(arms[index]!.pairs, metric.direction);
    return {
      ...asDifference(identical ? { delta: 0, interval: { low: 0, high: 0 } } : gain, metric),
      ...counts,
      detectable: (Number.isFinite(gain.error) && minimumDetectableEffect(gain)) || null,
      p,
      ...(p !== null && metric.kind === 'binary' && { mcnemar: mcnemar(counts.wins, counts.losses) }),
      ...judgements[index]!,
    };
  });
}
