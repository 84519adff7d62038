import { existsSync } from 'node:fs';
import { BenchError } from '../config/bench-error.ts';
import { didYouMean } from '../config/nearest-name.ts';
import { type BenchDatabase, openDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { lastRunsHint } from '../eval/run-name.ts';
import { shownPath } from './command-line.ts';

/** Opens the database of earlier runs. @throws BenchError `not-found` where there is none: reading makes no file */
export function openStoredRuns(path: string, options: { readonly readOnly?: true } = {}): BenchDatabase {
  if (existsSync(path)) return openDatabase({ path, ...options });
  throw new BenchError('not-found', `there is no database ${shownPath(path)}`, 'make one: npm run bench');
}

/** The run of that name, or the latest. @throws BenchError `not-found` */
export function findRun(database: BenchDatabase, name: string | undefined): RunRow {
  const runs = new RunRepository(database);
  const run = name === undefined ? runs.list().at(-1) : runs.findByName(name);
  if (run !== undefined) return run;
  const known = runs.names();
  const message =
    name === undefined ? 'the database holds no run' : `there is no run "${name}"${didYouMean(name, known)}`;
  throw new BenchError('not-found', message, lastRunsHint(known));
}
