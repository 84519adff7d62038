import type { BenchDatabase } from '../../../store/database.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { readStoredTurns } from '../results-from-stored-turns.ts';
import { type ComparisonOptions, compareRuns, type RunsComparison } from './compare-runs.ts';

/** Compares stored run `a` with stored run `b`, item by item. @throws BenchError as `compareRuns` */
export function compareStoredRuns(
  database: BenchDatabase,
  runs: { readonly a: RunRecord; readonly b: RunRecord },
  options: ComparisonOptions,
): RunsComparison {
  const read = (run: RunRecord) => ({ run, turns: readStoredTurns(database, run.id) });
  return compareRuns(read(runs.a), read(runs.b), options);
}
