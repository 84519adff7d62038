import { BenchError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { groupName } from '../../store/run-names.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { analyseRun } from './analyse-run.ts';
import { findRuns } from './find-runs.ts';
import type { EndedRun } from './summary/describe-run.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { AnsweredResult, FailedTurn } from '../../store/records/turn-record.ts';
import type { RunTurns } from './turns-by-arm.ts';

/** Computes results of finished runs. @throws BenchError as `findRuns`, and `not-found` for an unfinished run */
export function resultsOfRuns(database: BenchDatabase, name?: string): RunResults[] {
  return findRuns(database, name).map((run) => {
    if (hasEnded(run)) return resultsOf(database, run);
    throw new BenchError(
      'not-found',
      `run "${run.name}" is not finished: it has no results yet`,
      `resume it: npm run bench -- --resume ${groupName(run.name)}`,
    );
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
  const turns = [...byUser.keys()].sort((a, b) => placeOf(a) - placeOf(b)).flatMap((userId) => byUser.get(userId)!);
  const answered: AnsweredResult[] = [];
  const failed: FailedTurn[] = [];
  for (const turn of turns) {
    if (turn.state === 'answered') answered.push(turn);
    else failed.push(turn);
  }
  return { answered, failed };
}
