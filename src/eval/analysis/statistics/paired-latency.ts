import type { Verdict } from '../../../store/records/results.ts';
import type { Interval } from './interval.ts';
import { differences, meanOf, type PairedObservations, unitTotals } from './observations.ts';
import { type PairedDifference, meanDifference } from './paired-difference.ts';
import { LEAST_USERS, LEVEL } from './verdict.ts';

/** The mean of ln(a ÷ b) over paired turns, and the geometric means of both that it is the ratio of. */
export interface LatencyRatio extends PairedDifference {
  /** By user, for a test. */
  readonly sums: Float64Array;
  /** Geometric, ms. */
  readonly means: { readonly a: number; readonly b: number };
}

/**
 * Compares durations (ms) turn by turn; the log makes twice as fast and twice as slow equally far from none.
 * @throws RangeError without pairs, or on a duration that is not positive: a failed turn must not count as a fast one
 */
export function pairedLatency(pairs: PairedObservations): LatencyRatio {
  const { a, b, userOf, userIds } = pairs;
  if (a.length === 0) throw new RangeError('no paired turns to compare');
  const refused = a.findIndex((ms, place) => !(ms > 0 && b[place]! > 0));
  if (refused !== -1) {
    const user = userIds[userOf[refused]!];
    throw new RangeError(`a duration of user ${user} is not positive: ${a[refused]} ms, ${b[refused]} ms`);
  }
  const logs = { ...pairs, a: a.map(Math.log), b: b.map(Math.log) };
  const totals = unitTotals(differences(logs));
  return {
    ...meanDifference({ differences: totals }),
    sums: totals.sums,
    means: { a: Math.exp(meanOf(logs.a)), b: Math.exp(meanOf(logs.b)) },
  };
}

/** The largest log-ratio that the A/A twin's interval allows between two arms that do the same work. */
export function noiseFloor({ low, high }: Interval): number {
  return Math.max(Math.abs(low), Math.abs(high));
}

/** A log-ratio that was planned to be tested. */
export interface TestedRatio {
  readonly delta: number;
  readonly users: number;
  /** Two-sided, adjusted over the family. */
  readonly pAdjusted: number;
  /** Of the A/A twin; undefined where none ran. */
  readonly floor: number | undefined;
}

/** Judges a against b: a difference within the A/A floor is noise, any other is one if the test shows it; none without a twin. */
export function judgeLatency({
  delta,
  users,
  pAdjusted,
  floor,
}: TestedRatio): Extract<
  Verdict,
  'within A/A noise' | 'faster' | 'slower' | 'undecided' | 'too few users' | 'not judged'
> {
  if (users < LEAST_USERS) return 'too few users';
  if (floor === undefined) return 'not judged';
  if (!Number.isFinite(floor)) return 'undecided';
  if (Math.abs(delta) <= floor) return 'within A/A noise';
  if (pAdjusted >= LEVEL) return 'undecided';
  return delta < 0 ? 'faster' : 'slower';
}
