import { prefixCacheArm as findPrefixCache } from '../eval/analysis/summary/arms-by-role.ts';
import type { ArmResults, Comparison, RunResults } from '../store/records/run-results.ts';

/** The arm that all others are compared with; undefined if it did not run. */
export const baselineArm = (arms: readonly ArmResults[]): ArmResults | undefined =>
  arms.find(({ traits }) => traits.comparison === 'baseline');

/** The arm that defines which turns are cache hits and misses, also for the other arms; undefined if it did not run. */
export const primaryArm = (arms: readonly ArmResults[]): ArmResults | undefined =>
  arms.find(({ traits }) => traits.comparison === 'primary');

/** The text arm with prefix caching; undefined if it did not run. */
export const prefixCacheArm = (arms: readonly ArmResults[]): ArmResults | undefined =>
  arms.find(({ traits }) => findPrefixCache([traits]) !== undefined);

/** The first planned arm that injects joined KV blocks of memories; undefined if none ran. */
export const joinedArm = (arms: readonly ArmResults[]): ArmResults | undefined =>
  arms.find(({ traits }) => traits.comparison === 'planned' && traits.injects === 'memories');

/** Finds the comparison of two arms by a metric; undefined if they were not compared. */
export function findComparison(
  { comparisons }: Pick<RunResults, 'comparisons'>,
  a: string,
  b: string | undefined,
  metric: string,
): Comparison | undefined {
  return comparisons.find((one) => one.a === a && one.b === b && one.metric === metric);
}
