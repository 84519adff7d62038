import type { Interval } from './interval.ts';
import { betaQuantile } from './incomplete-beta.ts';

/**
 * The exact 95 % interval of a proportion, from beta quantiles; `successes` and `n` need not be whole, since n may be
 * reduced by a design effect.
 * @throws RangeError unless 0 ≤ successes ≤ n and n > 0
 * @see Clopper and Pearson 1934
 */
export function clopperPearson(successes: number, n: number): Interval {
  if (!(n > 0 && successes >= 0 && successes <= n)) throw new RangeError(`no proportion of ${successes} in ${n}`);
  return {
    low: successes === 0 ? 0 : betaQuantile(0.025, successes, n - successes + 1),
    high: successes === n ? 1 : betaQuantile(0.975, successes + 1, n - successes),
  };
}
