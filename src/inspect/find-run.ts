import { BenchError } from '../config/bench-error.ts';
import { didYouMean } from '../config/nearest-name.ts';
import type { BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { TurnListRepository } from '../db/turn-list-repository.ts';
import { lastRunsHint } from '../eval/run-name.ts';

/** A name that is not there, as an error that says which was probably meant. */
export function unknownName(what: string, name: string, known: readonly string[]): BenchError {
  const others = known.length > 8 ? `, and ${known.length - 8} more` : '';
  const hint = known.length === 0 ? 'it has none' : `it has ${known.slice(0, 8).join(', ')}${others}`;
  return new BenchError('not-found', `${what} "${name}"${didYouMean(name, known)}`, hint);
}

/** The run of that name. @throws BenchError `not-found` */
export function runNamed(database: BenchDatabase, name: string): RunRow {
  const runs = new RunRepository(database);
  const run = runs.findByName(name);
  if (run !== undefined) return run;
  const known = runs.names();
  throw new BenchError('not-found', `there is no run "${name}"${didYouMean(name, known)}`, lastRunsHint(known));
}

/** The arms of a run that have turns. @param wanted must be one of them @throws BenchError `not-found` */
export function armsOf(database: BenchDatabase, run: RunRow, wanted?: string): string[] {
  const arms = new TurnListRepository(database).arms(run.id);
  if (wanted === undefined || arms.includes(wanted)) return arms;
  throw unknownName(`run "${run.name}" has no arm`, wanted, arms);
}
