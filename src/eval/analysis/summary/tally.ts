import type { Comparison } from '../../../store/records/results.ts';
import { countUsers, type PairedObservations } from '../statistics/observations.ts';

/** Counts of paired items; a win is the better value: the higher score, the lower cost. */
export function tally(
  pairs: PairedObservations,
  better: 'higher' | 'lower',
): Pick<Comparison, 'wins' | 'losses' | 'ties' | 'n' | 'users'> {
  const { a, b } = pairs;
  let [higher, lower, ties] = [0, 0, 0];
  for (let place = 0; place < a.length; place++) {
    if (a[place]! > b[place]!) higher++;
    else if (a[place]! < b[place]!) lower++;
    else if (a[place] === b[place]) ties++;
  }
  return {
    n: a.length,
    users: countUsers(pairs),
    wins: better === 'higher' ? higher : lower,
    losses: better === 'higher' ? lower : higher,
    ties,
  };
}
