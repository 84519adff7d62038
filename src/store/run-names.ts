/** The name of one suite's run when several suites run together. */
export function suiteRunName(group: string, suite: string): string {
  return `${group}/${suite}`;
}

/** The name that suites of one command share; for a single run its own name. */
export function groupName(runName: string): string {
  return runName.split('/')[0]!;
}

/** A hint for a run that is not there. @param known the names of all runs, the oldest first */
export function lastRunsHint(known: readonly string[], makeOne = 'make one: npm run bench'): string {
  return known.length === 0 ? makeOne : `the last runs are ${known.slice(-3).join(', ')}`;
}
