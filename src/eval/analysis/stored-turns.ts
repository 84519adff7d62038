import type { BenchDatabase } from '../../store/database.ts';
import { ResultRepository } from '../../store/result-repository.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import type { FailedTurn } from '../../store/records/turn-record.ts';
import type { AnsweredResult } from '../../store/records/turn-result.ts';
import type { TurnsOfRun } from './turns-of-run.ts';

/** Reads the turns of a run, as far as results are computed from them: by user in the order of the plan, whoever asked them. */
export function readStoredTurns(database: BenchDatabase, runId: string): TurnsOfRun {
  const answered: AnsweredResult[] = [];
  const failed: FailedTurn[] = [];
  const results = new ResultRepository(database, runId);
  for (const userId of inOrderOfPlan(database, runId, results.userIds())) {
    for (const turn of results.ofUser(userId)) {
      if (turn.state === 'answered') answered.push(turn);
      else failed.push(turn);
    }
  }
  return { answered, failed };
}

/** Several workers begin several users at one time; the order of sums is that of one worker even so. */
function inOrderOfPlan(database: BenchDatabase, runId: string, userIds: readonly string[]): string[] {
  const places = new RunUserRepository(database, runId).places();
  const placeOf = (userId: string): number => places.get(userId) ?? 0;
  return userIds.toSorted((a, b) => placeOf(a) - placeOf(b));
}
