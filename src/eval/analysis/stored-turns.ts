import type { BenchDatabase } from '../../db/database.ts';
import { RunUserRepository } from '../../db/run-user-repository.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import type { FailedTurn } from '../../records/turn-record.ts';
import type { AnsweredResult, TurnResult } from '../../records/turn-result.ts';
import type { TurnsOfRun } from './turns-of-run.ts';

/** Reads the turns of a run, as far as results are computed from them: by user in the order of the plan, whoever asked them. */
export function readStoredTurns(database: BenchDatabase, runId: string): TurnsOfRun {
  const answered: AnsweredResult[] = [];
  const failed: FailedTurn[] = [];
  for (const turn of inOrderOfPlan(database, runId)) {
    if (turn.state === 'answered') answered.push(turn);
    else failed.push(turn);
  }
  return { answered, failed };
}

/** Several workers write the turns of several users at one time; the order of sums is that of one worker even so. */
function inOrderOfPlan(database: BenchDatabase, runId: string): TurnResult[] {
  const places = new RunUserRepository(database, runId).places();
  const turns = [...new TurnRepository(database).listForResults(runId)];
  const placeOf = ({ userId }: TurnResult): number => places.get(userId) ?? 0;
  return turns.sort((a, b) => placeOf(a) - placeOf(b));
}
