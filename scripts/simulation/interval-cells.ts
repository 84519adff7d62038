import type { SeededRandom } from '../../src/base/seeded-random.ts';
import { type Design, type Kind, sample } from './samples.ts';
import { cumulativeStdNormalProbability, probit } from 'simple-statistics';
import {
  clopperPearson,
  type Interval,
  meanInterval,
  shareInterval,
  TAIL,
} from '../../src/eval/analysis/statistics/intervals.ts';
import { clusteredMean } from '../../src/eval/analysis/statistics/design-effect.ts';
import { sum, type UnitTotals } from '../../src/eval/analysis/statistics/observations.ts';
import { studentQuantile } from '../../src/eval/analysis/statistics/distributions.ts';

/** One world in which intervals are tried. */
export interface IntervalCell extends Design {
  readonly kind: Kind;
  readonly mean: number;
}

/** The share of samples in which each interval held the mean. */
export type IntervalResult = Readonly<Record<string, { readonly coverage: number }>>;

const MEANS: Readonly<Record<Kind, readonly number[]>> = {
  binary: [0.5, 0.8, 0.95, 0.99],
  score: [0.5, 0.8, 0.95, 0.99],
  normal: [0],
  time: [30],
};

/** Two users to sixty, with few and more items, which correlate not at all, as in our data (.1), and three times as much. */
export const intervalCells: readonly IntervalCell[] = (['binary', 'score', 'normal', 'time'] as const).flatMap((kind) =>
  MEANS[kind].flatMap((mean) =>
    [0, 0.1, 0.3].flatMap((correlation) =>
      [2, 8].flatMap((items) => [2, 3, 5, 10, 20, 30, 60].map((users) => ({ kind, mean, correlation, items, users }))),
    ),
  ),
);

/** Resampling takes most of the time, and misses by more than a rough number hides: one sample in so many. */
const PER_BOOTSTRAP = 4;

export function tryIntervals(cell: IntervalCell, trials: number, random: SeededRandom): IntervalResult {
  const { kind, mean } = cell;
  const found: Intervals[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const totals = sample(kind, mean, cell, random);
    found.push(directIntervals(kind, totals));
    if (trial % PER_BOOTSTRAP === 0) found.push(bootstrapIntervals(totals, random));
  }
  const results = methods.flatMap((method) => {
    const own = found.flatMap((intervals) => intervals[method] ?? []);
    const held = own.filter(({ low, high }) => low <= mean && mean <= high);
    return own.length === 0 ? [] : [[method, { coverage: held.length / own.length }] as const];
  });
  return Object.fromEntries(results);
}

const DRAWS = 499;

/** Means of resampled users, in ascending order. */
function bootstrapMeans({ sums, counts }: UnitTotals, random: SeededRandom): Float64Array {
  const means = Float64Array.from({ length: DRAWS }, () => {
    const users = sums.map(() => Math.floor((random.bits() / 2 ** 32 + 0.5) * sums.length));
    return sum(users.map((user) => sums[user]!)) / sum(users.map((user) => counts[user]!));
  });
  return means.sort();
}

function at(sorted: Float64Array, share: number): number {
  return sorted[Math.min(DRAWS - 1, Math.max(0, Math.round(share * (DRAWS + 1)) - 1))]!;
}

/** Bias-corrected and accelerated percentiles. @see Efron 1987 */
function bca(means: Float64Array, totals: UnitTotals): Interval {
  const { mean, items, units } = clusteredMean(totals);
  const { sums, counts } = totals;
  const without = sums.map((own, user) => (mean * items - own) / (items - counts[user]!));
  const centre = sum(without) / units;
  const squares = sum(without.map((one) => (centre - one) ** 2));
  const cubes = sum(without.map((one) => (centre - one) ** 3));
  const below = means.reduce((count, one) => count + (one < mean ? 1 : one === mean ? 0.5 : 0), 0);
  const acceleration = squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
  const bias = probit(below / DRAWS);
  const share = (z: number): number =>
    cumulativeStdNormalProbability(bias + (bias + z) / (1 - acceleration * (bias + z)));
  return { low: at(means, share(probit(TAIL))), high: at(means, share(probit(1 - TAIL))) };
}

/** Clopper and Pearson on the effective n, scaled for few units; all right counts as one item a user. @see Korn and Graubard 1998 */
function kornGraubard(totals: UnitTotals): Interval {
  const { mean, units, variance, independent } = clusteredMean(totals);
  const spread = Math.max(variance, independent);
  const effective = spread === 0 ? units : (mean * (1 - mean)) / spread;
  const reduced = effective * (probit(1 - TAIL) / studentQuantile(TAIL, units - 1)) ** 2;
  return clopperPearson(Math.min(1, mean) * reduced, reduced);
}

/** Student's t on the variance over users alone. */
function plainT(totals: UnitTotals): Interval {
  const { mean, units, variance } = clusteredMean(totals);
  const half = studentQuantile(TAIL, units - 1) * Math.sqrt(variance);
  return { low: mean - half, high: mean + half };
}

/** The methods, in the order of the table; the last is the one that the bench uses. */
export const methods = ['percentile', 'BCa', 't', 'Korn–Graubard', 'chosen'] as const;

export type Intervals = Partial<Record<(typeof methods)[number], Interval>>;

/** The intervals of one sample that take no resampling. */
function directIntervals(kind: Kind, totals: UnitTotals): Intervals {
  const t = plainT(totals);
  if (kind === 'normal' || kind === 'time') return { t, chosen: meanInterval(totals) };
  return { t, 'Korn–Graubard': kornGraubard(totals), chosen: shareInterval(totals) };
}

/** The intervals of one sample by resampling its users. */
function bootstrapIntervals(totals: UnitTotals, random: SeededRandom): Intervals {
  const means = bootstrapMeans(totals, random);
  return { percentile: { low: at(means, TAIL), high: at(means, 1 - TAIL) }, BCa: bca(means, totals) };
}
