import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { BreakEven } from '../../../store/records/run-results.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { countUsers, differences, mean, type Observation, pairItems, perItem } from '../statistics/observations.ts';
import { prefixCacheArm } from './arms-by-role.ts';
import { studentQuantile } from '../statistics/distributions.ts';
import { TAIL } from '../statistics/intervals.ts';

/** Break-even of an arm against a text arm on the same items; undefined if it never missed or never hit. */
function breakEvenAgainst(text: Turns, turns: Turns): Omit<BreakEven, 'arm' | 'against'> | undefined {
  const firstTokens = (some: Turns) => perItem(some, ({ timings }) => timings.firstToken);
  const pairs = (cache: 'miss' | 'hit') =>
    pairItems(firstTokens(turns.filter(({ account }) => account.cache === cache)), firstTokens(text));
  const [misses, hits] = [pairs('miss'), pairs('hit')];
  if (misses.length === 0 || hits.length === 0) return undefined;
  return {
    missMs: mean(misses.map(({ a }) => a)),
    hitMs: mean(hits.map(({ a }) => a)),
    textMissMs: mean(misses.map(({ b }) => b)),
    textHitMs: mean(hits.map(({ b }) => b)),
    ...payback(differences(misses), differences(hits)),
  };
}

/** Break-even of every arm that injects, against the baseline and prefix caching: a miss builds KV, hits reuse it. */
export function breakEvens(answered: Turns, arms: readonly ArmTraits[]): BreakEven[] {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  const opponents = [baseline, prefixCacheArm(arms)].filter((arm) => arm !== undefined);
  return arms
    .filter(({ injects }) => injects !== 'nothing')
    .flatMap(({ name: arm }) =>
      opponents.flatMap(({ name: against }) => {
        const found = breakEvenAgainst(turnsOfArm(answered, against), turnsOfArm(answered, arm));
        return found === undefined ? [] : [{ arm, against, ...found }];
      }),
    );
}

const MAX_TURNS = 10_000;

/** For each unit, the sum of its deviations from the mean, divided by the number of observations. */
function contributions(observations: readonly Observation[], unit: (one: Observation, index: number) => string) {
  const average = mean(observations.map(({ value }) => value));
  const sums = new Map<string, number>();
  observations.forEach((one, index) => {
    const key = unit(one, index);
    sums.set(key, (sums.get(key) ?? 0) + (one.value - average) / observations.length);
  });
  return sums;
}

/**
 * The first turn N at which `first + (N − 1) · later`, two means over the same users, is no longer above zero; null for
 * never. Its 95 % interval reaches from the first turn at which the lower bound of the sum is no longer above zero to
 * the first at which the upper bound is not (Student's t over users; over observations of a single user).
 * @param first extra cost of the first turn, one observation per item @param later extra cost of each later turn
 * @see Fieller 1954, Journal of the Royal Statistical Society B 16, on the interval of a ratio
 */
export function payback(first: readonly Observation[], later: readonly Observation[]) {
  const [cost, saving] = [first, later].map((list) => mean(list.map(({ value }) => value))) as [number, number];
  const alone = countUsers([...first, ...later]) === 1;
  const ofFirst = contributions(first, ({ userId }, index) => (alone ? `first ${index}` : userId));
  const ofLater = contributions(later, ({ userId }, index) => (alone ? `later ${index}` : userId));
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
    for (let turns = 0; turns < MAX_TURNS; turns++) {
      const variance = Math.max(0, squareFirst + 2 * turns * both + turns ** 2 * squareLater);
      const error = errors === 0 ? 0 : errors * (degrees < 1 ? Infinity : Math.sqrt(scale * variance));
      if (cost + turns * saving + error <= 0) return turns + 1;
    }
    return null;
  };
  return { turn: firstTurn(0), low: firstTurn(-1), high: firstTurn(1) };
}
