import type { Comparison } from '../../../records/results.ts';
import type { PairedObservation } from '../statistics/observations.ts';

/** Counts of paired items; a win is the better value: the higher score, the lower cost. */
export function tally(
  pairs: readonly PairedObservation[],
  better: 'higher' | 'lower',
): Pick<Comparison, 'wins' | 'losses' | 'ties' | 'n' | 'users'> {
  const higher = pairs.filter((pair) => pair.a > pair.b).length;
  const lower = pairs.filter((pair) => pair.a < pair.b).length;
  return {
    n: pairs.length,
    users: new Set(pairs.map((pair) => pair.userId)).size,
    wins: better === 'higher' ? higher : lower,
    losses: better === 'higher' ? lower : higher,
    ties: pairs.filter((pair) => pair.a === pair.b).length,
  };
}
