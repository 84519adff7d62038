import type { BenchDatabase } from '../../db/database.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import type { FailedTurn } from '../../records/turn-record.ts';
import type { AnsweredResult } from '../../records/turn-result.ts';
import type { TurnsOfRun } from './turns-of-run.ts';

/** Reads the turns of a run, as far as results are computed from them. */
export function readStoredTurns(database: BenchDatabase, runId: string): TurnsOfRun {
  const answered: AnsweredResult[] = [];
  const failed: FailedTurn[] = [];
  for (const turn of new TurnRepository(database).listForResults(runId)) {
    if (turn.state === 'answered') answered.push(turn);
    else failed.push(turn);
  }
  return { answered, failed };
}
