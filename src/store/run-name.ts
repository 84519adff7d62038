/** The name of a suite's run where several were asked for together. */
export function memberName(group: string, suite: string): string {
  return `${group}/${suite}`;
}

/** The name under which suites that were asked for together were made; of a run alone, its own. */
export function groupOf(runName: string): string {
  return runName.split('/')[0]!;
}

/** A hint for somebody who named a run that is not there. @param known names of the runs that there are, the oldest first */
export function lastRunsHint(known: readonly string[], makeOne = 'make one: npm run bench'): string {
  return known.length === 0 ? makeOne : `the last runs are ${known.slice(-3).join(', ')}`;
}
