/** The name of one suite's run when several suites run together. */
export function suiteRunName(group: string, suite: string): string {
  return `${group}/${suite}`;
}

/** The name that the suites of one command share; for a single run, the run's name. */
export function groupName(runName: string): string {
  return runName.split('/')[0]!;
}

/** Hint for an error about a missing run. @param known the names of all runs, oldest first */
export function lastRunsHint(known: readonly string[], makeOne = 'make one: npx dki-bench bench'): string {
  return known.length === 0 ? makeOne : `the last runs are ${known.slice(-3).join(', ')}; all: npx dki-bench list runs`;
}
