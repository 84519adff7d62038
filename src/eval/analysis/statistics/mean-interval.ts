import { clusteredMean } from './clustered-mean.ts';
import { type Interval, TAIL, unbounded } from './interval.ts';
import type { UnitTotals } from './observations.ts';
import { studentQuantile } from './student-t.ts';

/** 95 % interval of a mean of any range: Student's t on the variance between units, one degree less than there are. */
export function meanInterval(totals: UnitTotals): Interval {
  const { mean, units, variance } = clusteredMean(totals);
  if (units < 2) return unbounded;
  const half = studentQuantile(TAIL, units - 1) * Math.sqrt(variance);
  return { low: mean - half, high: mean + half };
}
