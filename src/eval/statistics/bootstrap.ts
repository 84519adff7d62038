import { quantileSorted } from 'simple-statistics';
import { SeededRandom } from '../random.ts';
import { differences, totalsByUser, type Observation, type PairedObservation } from './observations.ts';

/** A 95 % interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Resamples of an interval. */
const BOOTSTRAP_DRAWS = 10_000;

/**
 * 95 % percentile interval of the mean over items, by resampling whole users with replacement (the cluster bootstrap
 * of Davison and Hinkley 1997, §3.8, strategy 1). 10,000 draws; one seed gives the same bits, whatever the order of
 * the observations' users. Fewer than two users say nothing about other users: the interval is then unbounded.
 */
export function bootstrapMean(observations: readonly Observation[], seed: number): Interval {
  const { sums, counts } = totalsByUser(observations);
  const users = sums.length;
  if (users < 2) return { low: -Infinity, high: Infinity };
  const random = new SeededRandom(seed);
  const means = new Float64Array(BOOTSTRAP_DRAWS);
  for (let draw = 0; draw < BOOTSTRAP_DRAWS; draw++) {
    let sum = 0;
    let count = 0;
    for (let drawn = 0; drawn < users; drawn++) {
      const user = random.int(0, users - 1);
      sum += sums[user]!;
      count += counts[user]!;
    }
    means[draw] = sum / count;
  }
  const sorted = means.sort() as unknown as number[];
  return { low: quantileSorted(sorted, 0.025), high: quantileSorted(sorted, 0.975) };
}

/** As `bootstrapMean`, for the mean of the paired differences a − b. */
export function bootstrapDifference(pairs: readonly PairedObservation[], seed: number): Interval {
  return bootstrapMean(differences(pairs), seed);
}
