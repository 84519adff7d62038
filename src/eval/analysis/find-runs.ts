import { BenchError, didYouMean } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { groupName, lastRunsHint } from '../../store/run-names.ts';
import { RunRepository } from '../../store/run-repository.ts';
import type { RunRecord } from '../../store/records/run-record.ts';

/** Finds a run or all `NAME/SUITE` of a group; by default the latest. @throws BenchError `not-found`, `database` */
export function findRuns(database: BenchDatabase, name?: string): RunRecord[] {
  const runs = new RunRepository(database);
  const names = runs.names();
  const found = runs.listGroup(name ?? groupName(names.at(-1) ?? ''));
  if (found.length === 0) {
    const groups = [...new Set(names.map(groupName))];
    throw new BenchError(
      'not-found',
      name === undefined
        ? `${database.path} holds no run`
        : `${database.path} holds no run "${name}"${didYouMean(name, [...groups, ...names])}`,
      lastRunsHint(groups),
    );
  }
  return found;
}

/** Finds one run by its whole name. @throws BenchError `not-found`, `database` */
export function findRunByName(database: BenchDatabase, name: string): RunRecord {
  const runs = new RunRepository(database);
  const run = runs.findByName(name);
  if (run !== undefined) return run;
  const known = runs.names();
  throw new BenchError('not-found', `there is no run "${name}"${didYouMean(name, known)}`, lastRunsHint(known));
}
