import type { BenchDatabase } from '../../store/database.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { AnsweredResult, FailedTurn } from '../../store/records/turn-record.ts';
import type { TurnsOfRun } from './arm-turns.ts';

/** Reads the turns of a run, as far as results are computed from them, by user in the order of the plan. */
export function readStoredTurns(database: BenchDatabase, runId: string): TurnsOfRun {
  const byUser = Map.groupBy(new TurnRepository(database).listForResults(runId), ({ userId }) => userId);
  // Several workers begin several users at one time; the order of sums is that of one worker even so.
  const places = new RunUserRepository(database, runId).places();
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
