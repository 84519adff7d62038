import type { Verdict } from '../../../store/records/run-results.ts';
import type { Interval } from './intervals.ts';
import { differences, mean, type Pair, unitTotals } from './observations.ts';
import { meanDifference } from './paired-difference.ts';
import { MIN_USERS, LEVEL } from './verdict.ts';

/** The mean of ln(a ÷ b) over paired turns, its sums by user, and the geometric means of a and of b in ms. */
export type LatencyRatio = ReturnType<typeof pairedLatency>;

/** Compares durations in ms turn by turn, by ln(a ÷ b). @throws RangeError without pairs, or if one is not positive */
export function pairedLatency(pairs: readonly Pair[]) {
  if (pairs.length === 0) throw new RangeError('no paired turns to compare');
  const invalid = pairs.find(({ a, b }) => !(a > 0 && b > 0));
  if (invalid !== undefined) {
    const { userId, a, b } = invalid;
    throw new RangeError(`a duration of user ${userId} is not positive: ${a} ms, ${b} ms`);
  }
  const logs = pairs.map(({ userId, a, b }) => ({ userId, a: Math.log(a), b: Math.log(b) }));
  const totals = unitTotals(differences(logs));
  return {
    ...meanDifference({ differences: totals }),
    sums: totals.sums,
    means: { a: Math.exp(mean(logs.map(({ a }) => a))), b: Math.exp(mean(logs.map(({ b }) => b))) },
  };
}

/** Noise between arms that do the same work: the largest log-ratio within the interval of the A/A twin. */
export function noiseFloor({ low, high }: Interval): number {
  return Math.max(Math.abs(low), Math.abs(high));
}

export interface TestedRatio {
  readonly delta: number;
  readonly users: number;
  /** Two-sided, adjusted over the family. */
  readonly pAdjusted: number;
  /** `noiseFloor` of the A/A twin; undefined if it did not run. */
  readonly floor: number | undefined;
}

/** Judges a against b: a difference within the A/A floor is noise; a larger one needs a significant test. */
export function judgeLatency({ delta, users, pAdjusted, floor }: TestedRatio): Verdict {
  if (users < MIN_USERS) return 'too few users';
  if (floor === undefined) return 'not judged';
  if (!Number.isFinite(floor)) return 'undecided';
  if (Math.abs(delta) <= floor) return 'within A/A noise';
  if (pAdjusted >= LEVEL) return 'undecided';
  return delta < 0 ? 'faster' : 'slower';
}
