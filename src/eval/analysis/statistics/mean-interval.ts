import { clusteredMean, standardError } from './clustered-mean.ts';
import { type Interval, TAIL, unbounded } from './interval.ts';
import type { UnitTotals } from './observations.ts';
import { studentQuantile } from './student-t.ts';

/** 95 % interval of a mean of any range: Student's t on its standard error over units, one degree less than there are. */
export function meanInterval(totals: UnitTotals): Interval {
  const found = clusteredMean(totals);
  if (found.units < 2) return unbounded;
  const half = studentQuantile(TAIL, found.units - 1) * standardError(found);
  return { low: found.mean - half, high: found.mean + half };
}
