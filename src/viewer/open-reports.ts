/** Opens reports on disk, so that the viewer can show them without the database of their runs. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { readReportOutcomes } from '../report/turn-outcomes-file.ts';
import { parseReportJson, readReportText, rewriteHint } from '../report/report-files.ts';
import { openDatabase } from '../store/database.ts';
import { requireSchemaVersion, schemaVersion } from '../store/records/schema-version.ts';
import { checkStoredRecord } from '../store/check-stored-record.ts';
import { type RunResults, runResults } from '../store/records/run-results.ts';
import { type RunRecord, runRecord } from '../store/records/run-record.ts';
import { RunRepository } from '../store/run-repository.ts';

/** Depth to which folders are searched, such as for `reports/NAME/SUITE`. */
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

/** Finds the folders of reports: all below a folder, or that of a file. @throws BenchError `not-found` */
export function findReports(path: string, option = '--report'): string[] {
  const none = (why: string): BenchError =>
    new BenchError('not-found', `${option} ${path}: ${why}`, `name a folder with a ${resultsFile}, as a run writes it`);
  if (!existsSync(path)) throw none('no such file or folder');
  if (!statSync(path).isDirectory()) {
    const folder = dirname(path);
    if (existsSync(join(folder, resultsFile))) return [folder];
    throw none(`there is no ${resultsFile} beside ${basename(path)}`);
  }
  const found = reportsBelow(path, deepest);
  if (found.length === 0) throw none('the folder has no report');
  return found;
}

/** Parses `results.json` without validation. @throws BenchError `bad-data` */
export function reportDocument(folder: string): unknown {
  const path = join(folder, resultsFile);
  return parseReportJson(readReportText(path), path);
}

/** Reads and validates the results of a report. @throws BenchError `bad-data`, or `database` for another schema version */
export function readReport(folder: string): RunResults {
  const path = join(folder, resultsFile);
  const document = reportDocument(folder) as { readonly schemaVersion?: unknown } | null;
  const version = document?.schemaVersion;
  if (typeof version !== 'number') {
    throw new BenchError('bad-data', `${path}: holds no results: it has no schemaVersion`, rewriteHint);
  }
  requireSchemaVersion(version, path);
  return checkStoredRecord(runResults, document, path);
}

export interface ItemTexts {
  readonly query: string;
  readonly gold: string | null;
}

/** Finds the texts of a run's items by id, in data files of the user; null if the user has no such file. */
export type FindItemTexts = (run: RunRecord) => Promise<ReadonlyMap<string, ItemTexts> | null>;

/**
 * Loads reports into a database in memory: runs with their results, and outcomes of their turns.
 * @param path a folder with reports, or a file of one report
 * @param textsOf finds texts of items to show in place of hidden ones
 * @returns the database, and the names of runs whose reports have no outcomes of turns
 * @throws BenchError `not-found` without a report, `bad-data` or `database` for files that cannot be read
 */
export async function openReports(path: string, textsOf: FindItemTexts) {
  const folders = findReports(path);
  const database = openDatabase({ path: ':memory:' });
  const reports = new RunRepository(database);
  /** Ids and names of runs. */
  const taken = new Set<string>();
  const withoutOutcomes: string[] = [];
  try {
    for (const folder of folders) {
      const results = readReport(folder);
      const read = reportedRun(results, join(folder, resultsFile));
      // Copies of a report, or reports from two machines, may have the same name.
      const name = taken.has(read.name) ? `${read.name} (${relative(path, folder)})` : read.name;
      const run = { ...read, name, id: taken.has(read.id) ? randomUUID() : read.id };
      taken.add(run.name).add(run.id);
      const outcomes = readReportOutcomes(folder);
      if (outcomes === null) withoutOutcomes.push(run.name);
      const texts = outcomes === null || outcomes.length === 0 ? null : await textsOf(run);
      const shown = (outcomes ?? []).map((row) => {
        const own = texts?.get(row.itemId);
        return own === undefined ? row : { ...row, question: own.query, gold: own.gold };
      });
      reports.add(run, results, shown);
    }
    return { database, withoutOutcomes };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Rebuilds the record of a run from its results, without probes. @param place the file, for messages */
function reportedRun({ run, arms }: RunResults, place: string): RunRecord {
  const { startedAt, finishedAt } = run;
  const plan = { ...run, arms: arms.map(({ traits }) => traits) };
  const times = { startedAt: Date.parse(startedAt), finishedAt: finishedAt === null ? null : Date.parse(finishedAt) };
  return checkStoredRecord(runRecord, { ...run, schemaVersion, plan, probes: null, ...times }, place);
}
