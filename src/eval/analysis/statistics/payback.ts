import { TAIL } from './interval.ts';
import { meanOf, type Observations } from './observations.ts';
import { studentQuantile } from './student-t.ts';

/** Turns after which an interval says "never". */
const MOST_TURNS = 10_000;

/** The first turn after which a cost has paid; null for never. */
export interface Payback {
  readonly turn: number | null;
  /** 95 %. */
  readonly low: number | null;
  readonly high: number | null;
}

/** The share of each unit in a mean: its users, or, of a single user, each observation. */
function shares(observations: Observations, alone: boolean, name: string): Map<string, number> {
  const { values, userOf, userIds } = observations;
  const mean = meanOf(values);
  const parts = values.map((value) => (value - mean) / values.length);
  if (alone) return new Map(Array.from(parts, (part, place) => [`${name} ${place}`, part]));
  const sums = new Float64Array(userIds.length);
  for (let place = 0; place < parts.length; place++) sums[userOf[place]!]! += parts[place]!;
  return new Map(Array.from(new Set(userOf), (user) => [userIds[user]!, sums[user]!]));
}

/**
 * The first turn N at which `first + (N − 1) · later`, two means over the same users, is no longer above zero. Its interval begins
 * at the first turn at which the sum may not be, and ends at the first at which it is known not to be (Student's t over users).
 * @param first what the first turn costs more, one observation an item @param later what each later turn does
 * @see Fieller 1954, Journal of the Royal Statistical Society B 16, on the interval of a ratio
 */
export function payback(first: Observations, later: Observations): Payback {
  const [cost, saving] = [meanOf(first.values), meanOf(later.values)];
  const usersOf = ({ userOf, userIds }: Observations): string[] =>
    Array.from(new Set(userOf), (user) => userIds[user]!);
  const alone = new Set([...usersOf(first), ...usersOf(later)]).size === 1;
  const [ofFirst, ofLater] = [shares(first, alone, 'first'), shares(later, alone, 'later')];
  const units = [...new Set([...ofFirst.keys(), ...ofLater.keys()])].sort();
  let [squareFirst, both, squareLater] = [0, 0, 0];
  for (const unit of units) {
    const [a, b] = [ofFirst.get(unit) ?? 0, ofLater.get(unit) ?? 0];
    squareFirst += a ** 2;
    both += a * b;
    squareLater += b ** 2;
  }
  const degrees = units.length - 1;
  const scale = degrees < 1 ? Infinity : (studentQuantile(TAIL, degrees) ** 2 * units.length) / degrees;
  const firstTurn = (errors: -1 | 0 | 1): number | null => {
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      const variance = Math.max(0, squareFirst + 2 * turns * both + turns ** 2 * squareLater);
      const error = errors === 0 ? 0 : errors * (degrees < 1 ? Infinity : Math.sqrt(scale * variance));
      if (cost + turns * saving + error <= 0) return turns + 1;
    }
    return null;
  };
  return { turn: firstTurn(0), low: firstTurn(-1), high: firstTurn(1) };
}
