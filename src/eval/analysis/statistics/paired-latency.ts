import type { Verdict } from '../../../records/results.ts';
import { bootstrapMean } from './bootstrap.ts';
import { meanOf, type PairedObservation } from './observations.ts';

/** The mean of ln(a ÷ b) over paired turns, with its 95 % interval over users. */
export interface LatencyRatio {
  readonly delta: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly users: number;
}

/**
 * Compares durations (ms) turn by turn; the log makes twice as fast and twice as slow equally far from none, and the
 * exponential of the mean is the ratio of geometric means.
 * @throws RangeError without pairs, or on a duration that is not positive: a failed turn must not count as a fast one
 */
export function pairedLatency(pairs: readonly PairedObservation[], seed: number): LatencyRatio {
  if (pairs.length === 0) throw new RangeError('no paired turns to compare');
  const logs = pairs.map(({ userId, a, b }) => {
    if (!(a > 0 && b > 0)) throw new RangeError(`a duration of user ${userId} is not positive: ${a} ms, ${b} ms`);
    return { userId, value: Math.log(a / b) };
  });
  return {
    delta: meanOf(logs),
    ...bootstrapMean(logs, seed),
    n: pairs.length,
    users: new Set(pairs.map((pair) => pair.userId)).size,
  };
}

/** The largest log-ratio that the A/A twin's interval allows between two arms that do the same work. */
export function noiseFloor(twin: LatencyRatio): number {
  return Math.max(Math.abs(twin.low), Math.abs(twin.high));
}

/** Judges a against b: differences inside the A/A floor are noise, others need an interval on one side of zero. */
export function judgeLatency(
  ratio: LatencyRatio,
  floor: number,
): Extract<Verdict, 'within A/A noise' | 'faster' | 'slower' | 'undecided'> {
  if (!Number.isFinite(floor)) return 'undecided';
  if (Math.abs(ratio.delta) <= floor) return 'within A/A noise';
  if (ratio.high < 0) return 'faster';
  return ratio.low > 0 ? 'slower' : 'undecided';
}
