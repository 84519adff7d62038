import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { outcomeLines } from './outcome-lines.ts';

/** The outcomes of a stored run's turns, for its report. @throws BenchError `database` where it cannot be read */
export function outcomesOf(database: BenchDatabase, runId: string): string {
  const run = new RunRepository(database).findById(runId)!;
  return outcomeLines(run, new TurnListRepository(database).rows(runId));
}
