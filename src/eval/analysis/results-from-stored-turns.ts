import { BenchError, didYouMean } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { groupName, lastRunsHint } from '../../store/run-names.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { analyseRun } from './analyse-run.ts';
import type { EndedRun } from './summary/describe-run.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { byState, type RunTurns } from './turns-by-arm.ts';
import { RunRepository } from '../../store/run-repository.ts';

/** Computes results of finished runs. @throws BenchError as `findRuns`, and `not-found` for an unfinished run */
export function resultsOfRuns(database: BenchDatabase, name?: string): RunResults[] {
  return findRuns(database, name).map((run) => {
    if (hasEnded(run)) return resultsOf(database, run);
    const message = `run "${run.name}" is not finished: it has no results yet`;
    throw new BenchError('not-found', message, `resume it: npx dki-bench bench --resume ${groupName(run.name)}`);
  });
}

export function hasEnded(run: RunRecord): run is EndedRun {
  return run.status === 'finished' && run.probes !== null;
}

export function resultsOf(database: BenchDatabase, run: EndedRun): RunResults {
  return analyseRun(run, readStoredTurns(database, run.id));
}

/** Reads the parts of a run's turns that results need, ordered by user as planned. */
export function readStoredTurns(database: BenchDatabase, runId: string): RunTurns {
  const byUser = Map.groupBy(new TurnRepository(database).listForResults(runId), ({ userId }) => userId);
  // Several workers mix the turns of users; floating-point sums must not depend on that order.
  const places = new UserClaimRepository(database, runId).places();
  const placeOf = (userId: string): number => places.get(userId) ?? 0;
  return byState([...byUser.keys()].sort((a, b) => placeOf(a) - placeOf(b)).flatMap((userId) => byUser.get(userId)!));
}

/** Finds a run or all `NAME/SUITE` of a group; by default the latest. @throws BenchError `not-found`, `database` */
export function findRuns(database: BenchDatabase, name?: string): RunRecord[] {
  const runs = new RunRepository(database);
  const names = runs.names();
  const found = runs.listGroup(name ?? groupName(names.at(-1) ?? ''));
  if (found.length > 0) return found;
  const groups = [...new Set(names.map(groupName))];
  const which = name === undefined ? '' : ` "${name}"${didYouMean(name, [...groups, ...names])}`;
  throw new BenchError('not-found', `${database.path} holds no run${which}`, lastRunsHint(groups));
}

/** Finds one run by its whole name. @throws BenchError `not-found`, `database` */
export function findRunByName(database: BenchDatabase, name: string): RunRecord {
  const runs = new RunRepository(database);
  const run = runs.findByName(name);
  if (run !== undefined) return run;
  const known = runs.names();
  throw new BenchError('not-found', `there is no run "${name}"${didYouMean(name, known)}`, lastRunsHint(known));
}
