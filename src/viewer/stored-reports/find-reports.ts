import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { readRecord, requireSchemaVersion } from '../../store/read-record.ts';
import { type RunResults, runResults } from '../../store/records/results.ts';

/** Folders below the one that is named: `reports/NAME/SUITE`. */
const deepest = 3;
const resultsFile = 'results.json';

function reportsBelow(folder: string, depth: number): string[] {
  if (existsSync(join(folder, resultsFile))) return [folder];
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
    .flatMap((below) => reportsBelow(below, depth - 1));
}

/** Finds the folders of reports: that of a file of one, or all below a folder. @throws BenchError `not-found` */
export function findReports(path: string): string[] {
  const none = (why: string): BenchError =>
    new BenchError('not-found', `--report ${path}: ${why}`, `name a folder with a ${resultsFile}, as a run writes it`);
  if (!existsSync(path)) throw none('there is no such file or folder');
  if (!statSync(path).isDirectory()) {
    const folder = dirname(path);
    if (existsSync(join(folder, resultsFile))) return [folder];
    throw none(`no ${resultsFile} stands beside ${basename(path)}`);
  }
  const found = reportsBelow(path, deepest);
  if (found.length === 0) throw none('no report is in it');
  return found;
}

/** The document of a report, as the file has it. @throws BenchError `bad-data` for a file that is no JSON */
export function reportDocument(folder: string): unknown {
  const path = join(folder, resultsFile);
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const hint = 'write the report again: npm run tables -- --run NAME --write';
    throw new BenchError('bad-data', `${path}: ${(error as Error).message}`, hint, error);
  }
}

/** Reads the results of a report. @throws BenchError `bad-data`, and `database` for those of another version */
export function readReport(folder: string): RunResults {
  const path = join(folder, resultsFile);
  const document = reportDocument(folder) as { readonly schemaVersion?: number };
  requireSchemaVersion(document.schemaVersion ?? 0, path);
  return readRecord(runResults, document, path);
}
