import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { exitCodes } from '../base/exit-codes.ts';
import { checkDrawings, redrawReport, resultsText, writeFiles } from '../report/report-files.ts';
import type { Mark } from '../store/records/arm-traits.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { groupName } from '../store/run-names.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { findReports, readReport, reportDocument } from '../viewer/open-reports.ts';
import { displayPath, printLines } from './output.ts';

export interface ReportContent {
  readonly folder: string;
  readonly runs: readonly RunResults[];
  /** Text of the file of outcomes, which only the report of a single run has. */
  readonly outcomes?: string;
}

/** The results of stored reports, the oldest first. @throws BenchError as `findReports` and `readReport` */
export function storedReports(path: string): RunResults[] {
  return byAge(findReports(path).map(readReport));
}

const byAge = (runs: readonly RunResults[]): RunResults[] =>
  runs.toSorted((a, b) => Date.parse(a.run.startedAt) - Date.parse(b.run.startedAt));

/** The report of each folder, and one report of all suites of a run in their parent folder. */
function drawnReports(folders: readonly string[]): ReportContent[] {
  const reports = folders.map((folder) => ({ folder, runs: [readReport(folder)] }));
  const groups = [...Map.groupBy(reports, ({ folder }) => dirname(folder))].flatMap(([folder, children]) => {
    const runs = byAge(children.flatMap((child) => child.runs));
    const names = new Set(runs.map(({ run }) => groupName(run.name)));
    return runs.length > 1 && names.size === 1 ? { folder, runs } : [];
  });
  return [...reports, ...groups];
}

/** Takes the marks of a report's arms, which figures draw, from the registry; changes nothing else. */
async function renewMarks(folder: string): Promise<void> {
  const document = reportDocument(folder) as {
    readonly arms: readonly { readonly arm: string; readonly traits: { mark: Mark } }[];
  };
  let isChanged = false;
  for (const { arm, traits } of document.arms) {
    const mark = armRegistry.mark(arm);
    if (mark === undefined || isDeepStrictEqual(mark, traits.mark)) continue;
    traits.mark = mark;
    isChanged = true;
  }
  if (isChanged) writeFiles(folder, new Map([['results.json', resultsText(document)]]));
}

/** Draws stored reports again from their results, with current marks and unchanged numbers. */
export async function redrawReports(path: string): Promise<number> {
  const folders = findReports(path);
  for (const folder of folders) await renewMarks(folder);
  return await writeReports(drawnReports(folders), ({ folder, runs }) => redrawReport(folder, runs), 'drawn');
}

/** Names the files of stored reports that would be drawn differently now. */
export async function checkReports(path: string): Promise<number> {
  const reports = drawnReports(findReports(path));
  return await compareReports(reports, ({ folder, runs }) => checkDrawings(folder, runs), 'agrees with its results');
}

export async function writeReports(
  reports: readonly ReportContent[],
  write: (report: ReportContent) => Promise<void>,
  done: string,
): Promise<number> {
  for (const report of reports) {
    await write(report);
    printLines([`${displayPath(report.folder)}: ${done}`]);
  }
  return exitCodes.ok;
}

/** Prints the differences of each report, or that it agrees. */
export async function compareReports(
  reports: readonly ReportContent[],
  compare: (report: ReportContent) => Promise<string[]>,
  agreement: string,
): Promise<number> {
  let count = 0;
  for (const report of reports) {
    const differences = await compare(report);
    const lines = differences.length === 0 ? [agreement] : differences;
    printLines(lines.map((line) => `${displayPath(report.folder)}: ${line}`));
    count += differences.length;
  }
  return count === 0 ? exitCodes.ok : exitCodes.checkFailed;
}
