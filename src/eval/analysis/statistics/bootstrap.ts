import { quantileSorted } from 'simple-statistics';
import { differences, totalsByUser, usersOf, type Observations, type PairedObservation } from './observations.ts';
import { BOOTSTRAP_DRAWS, resamples } from './resamples.ts';

/** A 95 % interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * 95 % percentile interval of the mean over items, by resampling whole users with replacement (the cluster bootstrap
 * of Davison and Hinkley 1997, §3.8, strategy 1). 10,000 draws; one seed gives the same bits, whatever the order of
 * the observations' users. Fewer than two users say nothing about other users: the interval is then unbounded.
 */
export function bootstrapMean(observations: Observations, seed: number): Interval {
  const { sums, counts } = totalsByUser(observations);
  const users = sums.length;
  if (users < 2) return { low: -Infinity, high: Infinity };
  const { numbers, scale } = resamples(users, seed);
  const means = new Float64Array(BOOTSTRAP_DRAWS);
  for (let draw = 0; draw < BOOTSTRAP_DRAWS; draw++) {
    let sum = 0;
    let count = 0;
    const end = (draw + 1) * users;
    for (let place = draw * users; place < end; place++) {
      const user = Math.floor(numbers[place]! * scale);
      sum += sums[user]!;
      count += counts[user]!;
    }
    means[draw] = sum / count;
  }
  const sorted = means.sort() as unknown as number[];
  return { low: quantileSorted(sorted, 0.025), high: quantileSorted(sorted, 0.975) };
}

/**
 * As `bootstrapMean`, for a number that is made from the means of several quantities of the same users. Draws in which a
 * quantity has no observation do not count; `±Infinity` is a value like another.
 * @param quantities observations of each @param statistic of the means, in their order
 */
export function bootstrapStatistic(
  quantities: readonly Observations[],
  statistic: (means: readonly number[]) => number,
  seed: number,
): Interval {
  const users = [...new Set(quantities.flatMap((observations) => [...usersOf(observations)]))].sort();
  if (users.length < 2) return { low: -Infinity, high: Infinity };
  const totals = quantities.map((observations) => {
    const place = new Map(users.map((userId, index) => [userId, index]));
    const sums = new Float64Array(users.length);
    const counts = new Float64Array(users.length);
    for (const { userId, value } of observations) {
      sums[place.get(userId)!]! += value;
      counts[place.get(userId)!]! += 1;
    }
    return { sums, counts };
  });
  const { numbers, scale } = resamples(users.length, seed);
  const values: number[] = [];
  const means = new Array<number>(totals.length);
  for (let draw = 0; draw < BOOTSTRAP_DRAWS; draw++) {
    const start = draw * users.length;
    totals.forEach(({ sums, counts }, quantity) => {
      let sum = 0;
      let count = 0;
      for (let place = start; place < start + users.length; place++) {
        const user = Math.floor(numbers[place]! * scale);
        sum += sums[user]!;
        count += counts[user]!;
      }
      means[quantity] = sum / count;
    });
    if (means.every((mean) => !Number.isNaN(mean))) values.push(statistic(means));
  }
  if (values.length === 0) return { low: -Infinity, high: Infinity };
  const sorted = values.sort((a, b) => a - b);
  return { low: quantileSorted(sorted, 0.025), high: quantileSorted(sorted, 0.975) };
}

/** As `bootstrapMean`, for the mean of the paired differences a − b. */
export function bootstrapDifference(pairs: readonly PairedObservation[], seed: number): Interval {
  return bootstrapMean(differences(pairs), seed);
}
