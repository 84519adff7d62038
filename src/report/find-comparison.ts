import type { Comparison, RunResults } from '../store/records/run-results.ts';

/** Finds the comparison of two arms by a metric; undefined if they were not compared. */
export function findComparison(
  { comparisons }: Pick<RunResults, 'comparisons'>,
  a: string,
  b: string | undefined,
  metric: string,
): Comparison | undefined {
  return comparisons.find((one) => one.a === a && one.b === b && one.metric === metric);
}
