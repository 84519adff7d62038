import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import type { BenchDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { TurnListRepository } from '../store/turn-list-repository.ts';
import { lastRunsHint } from '../store/run-names.ts';
import type { RunRecord } from '../store/records/run-record.ts';

export function unknownName(what: string, name: string, known: readonly string[]): BenchError {
  const others = known.length > 8 ? `, and ${known.length - 8} more` : '';
  const hint = known.length === 0 ? 'it has none' : `it has ${known.slice(0, 8).join(', ')}${others}`;
  return new BenchError('not-found', `${what} "${name}"${didYouMean(name, known)}`, hint);
}

/** Finds a run. @throws BenchError `not-found` */
export function findRunByName(database: BenchDatabase, name: string): RunRecord {
  const runs = new RunRepository(database);
  const run = runs.findByName(name);
  if (run !== undefined) return run;
  const known = runs.names();
  throw new BenchError('not-found', `there is no run "${name}"${didYouMean(name, known)}`, lastRunsHint(known));
}

/** The arms of a run with turns. @throws BenchError `not-found` if `wanted` is not one of them */
export function findArms(database: BenchDatabase, run: RunRecord, wanted?: string): string[] {
  const arms = new TurnListRepository(database).arms(run.id);
  if (wanted === undefined || arms.includes(wanted)) return arms;
  throw unknownName(`run "${run.name}" has no arm`, wanted, arms);
}
