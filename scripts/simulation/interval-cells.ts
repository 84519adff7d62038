import type { SeededRandom } from '../../src/base/seeded-random.ts';
import { bootstrapIntervals, directIntervals, type Intervals, methods } from './candidates.ts';
import { type Design, type Kind, sample } from './samples.ts';

/** One world in which intervals are tried. */
export interface IntervalCell extends Design {
  readonly kind: Kind;
  readonly mean: number;
}

/** How often each interval held the mean, and how wide it was. */
export type IntervalResult = Readonly<Record<string, { readonly coverage: number; readonly width: number }>>;

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

/** Draws samples of one world. */
export function tryIntervals(cell: IntervalCell, trials: number, random: SeededRandom): IntervalResult {
  const { kind, mean } = cell;
  const tallies = new Map(methods.map((method) => [method, { tried: 0, held: 0, width: 0 }]));
  const count = (found: Intervals): void => {
    for (const method of methods) {
      const interval = found[method];
      const tally = tallies.get(method)!;
      if (interval === undefined) continue;
      tally.tried++;
      tally.held += Number(interval.low <= mean && mean <= interval.high);
      tally.width += interval.high - interval.low;
    }
  };
  for (let trial = 0; trial < trials; trial++) {
    const totals = sample(kind, mean, cell, random);
    count(directIntervals(kind, totals));
    if (trial % PER_BOOTSTRAP === 0) count(bootstrapIntervals(totals, random));
  }
  return Object.fromEntries(
    [...tallies].flatMap(([method, { tried, held, width }]) =>
      tried === 0 ? [] : [[method, { coverage: held / tried, width: width / tried }]],
    ),
  );
}
