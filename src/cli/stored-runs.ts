import { existsSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { type BenchDatabase, isWritable, openDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { lastRunsHint } from '../store/run-names.ts';
import { findRunByName } from '../eval/analysis/results-from-stored-turns.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { displayPath } from './output.ts';

/** Opens the database of earlier runs. @throws BenchError `not-found` if the file does not exist; it is not created */
export function openStoredRuns(path: string, options: { readonly readOnly?: true } = {}): BenchDatabase {
  if (existsSync(path)) return openDatabase({ path, ...(isWritable(path) ? options : { readOnly: true }) });
  throw new BenchError('not-found', `there is no database ${displayPath(path)}`, 'make one: npx dki-bench bench');
}

/** Finds a run by name; by default the latest. @throws BenchError `not-found` */
export function findRun(database: BenchDatabase, name: string | undefined): RunRecord {
  const wanted = name ?? new RunRepository(database).names().at(-1);
  if (wanted !== undefined) return findRunByName(database, wanted);
  throw new BenchError('not-found', 'the database holds no run', lastRunsHint([]));
}
