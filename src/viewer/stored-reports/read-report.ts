import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { readRecord, requireSchemaVersion } from '../../store/read-record.ts';
import { type RunResults, runResults } from '../../store/records/results.ts';

/** The document of a report, as the file has it. @throws BenchError `bad-data` for a file that is no JSON */
export function reportDocument(folder: string): unknown {
  const path = join(folder, 'results.json');
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const hint = 'write the report again: npm run tables -- --run NAME --write';
    throw new BenchError('bad-data', `${path}: ${(error as Error).message}`, hint, error);
  }
}

/** Reads the results of a report. @throws BenchError `bad-data`, and `database` for those of another version */
export function readReport(folder: string): RunResults {
  const path = join(folder, 'results.json');
  const document = reportDocument(folder) as { readonly schemaVersion?: number };
  requireSchemaVersion(document.schemaVersion ?? 0, path);
  return readRecord(runResults, document, path);
}
