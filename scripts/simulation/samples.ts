import type { SeededRandom } from '../../src/base/seeded-random.ts';
import { sum, type UnitTotals } from '../../src/eval/analysis/statistics/observations.ts';

export interface Design {
  readonly users: number;
  /** Of a user: this many or up to half more or less, so that users weigh differently. */
  readonly items: number;
  /** Correlation of two items of one user, 0 to 1. */
  readonly correlation: number;
}

/** A standard normal number (Box and Muller). */
function normal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.float())) * Math.cos(2 * Math.PI * random.float());
}

/** A number of the gamma distribution of that shape and scale 1. @see Marsaglia and Tsang 2000 */
function gamma(shape: number, random: SeededRandom): number {
  if (shape < 1) return gamma(shape + 1, random) * Math.pow(1 - random.float(), 1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.float()) < 0.5 * x ** 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** A user's own rate: of the beta distribution whose mean is `rate` and whose items correlate as asked. */
export function userRate(rate: number, correlation: number, random: SeededRandom): number {
  if (correlation === 0 || rate === 0 || rate === 1) return rate;
  const size = 1 / correlation - 1;
  const right = gamma(rate * size, random);
  const sum = right + gamma((1 - rate) * size, random);
  // Both underflow where the user is nearly all right or all wrong.
  return sum === 0 ? Number(random.chance(rate)) : right / sum;
}

export function drawItems(items: number, random: SeededRandom): number {
  const spread = Math.floor(items / 2);
  return random.int(items - spread, items + spread);
}

function sampleUsers({ users, items }: Design, random: SeededRandom, drawUser: () => () => number): UnitTotals {
  const values = Array.from({ length: users }, () => {
    const length = drawItems(items, random);
    return Array.from({ length }, drawUser());
  });
  return {
    sums: values.map(sum),
    counts: values.map(({ length }) => length),
    squares: sum(values.flat().map((value) => value ** 2)),
  };
}

const TIME_SPREAD = 0.4;

/** Kinds of values: right or wrong; a score from 0 to 1 that is 1 or anything below; a normal one; a skewed one, such as a time. */
export type Kind = 'binary' | 'score' | 'normal' | 'time';

/** Values with the mean `mean`: of shares a rate; a normal value has variance 1, a time the shape of 30 ms that may be 60. */
export function sample(kind: Kind, mean: number, design: Design, random: SeededRandom): UnitTotals {
  const { correlation } = design;
  const shared = Math.sqrt(correlation);
  const own = Math.sqrt(1 - correlation);
  return sampleUsers(design, random, () => {
    if (kind === 'binary') {
      const rate = userRate(mean, correlation, random);
      return () => (random.float() < rate ? 1 : 0);
    }
    if (kind === 'score') {
      // Right to the letter with the rate 2 · mean − 1, else anything: the mean of both is `mean`.
      const rate = userRate(2 * mean - 1, correlation, random);
      return () => (random.float() < rate ? 1 : random.float());
    }
    const user = shared * normal(random);
    const value = (): number => user + own * normal(random);
    if (kind === 'normal') return () => mean + value();
    return () => mean * Math.exp(TIME_SPREAD * value() - TIME_SPREAD ** 2 / 2);
  });
}
