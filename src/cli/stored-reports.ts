import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { writeText } from '../data/write-lines.ts';
import { findReports } from '../viewer/stored-reports/find-reports.ts';
import { readReport, reportDocument } from '../viewer/stored-reports/read-report.ts';
import type { Mark } from '../store/records/arm-traits.ts';
import type { RunResults } from '../store/records/results.ts';
import { groupOf } from '../store/run-name.ts';
import { printable } from '../render/printable.ts';
import { checkDrawings, redrawReport, resultsText } from '../report/report-files.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { shownPath } from './command-line.ts';
import { exitCodes } from '../base/exit-codes.ts';

/** The results of stored reports, the oldest first. @throws BenchError as `findReports` and `readReport` */
export function storedReports(path: string): RunResults[] {
  return byAge(findReports(path).map(readReport));
}

const byAge = (runs: readonly RunResults[]): RunResults[] =>
  runs.toSorted((a, b) => Date.parse(a.run.startedAt) - Date.parse(b.run.startedAt));

/** Reports by the folder that they are drawn into: each its own, and the suites of one run together in the folder above. */
function drawnReports(folders: readonly string[]): (readonly [folder: string, runs: readonly RunResults[]])[] {
  const reports = folders.map((folder) => ({ folder, results: readReport(folder) }));
  const groups = [...Map.groupBy(reports, ({ folder }) => dirname(folder))].filter(
    ([, ofParent]) => ofParent.length > 1 && new Set(ofParent.map(({ results }) => groupOf(results.run.name))).size === 1,
  );
  return [
    ...reports.map(({ folder, results }) => [folder, [results]] as const),
    ...groups.map(([parent, ofParent]) => [parent, byAge(ofParent.map(({ results }) => results))] as const),
  ];
}

/** Gives the arms of a report the marks that they have today, and changes nothing else. */
async function renewMarks(folder: string): Promise<void> {
  const document = reportDocument(folder) as {
    readonly arms: readonly { readonly arm: string; readonly traits: { mark: Mark } }[];
  };
  const differing = document.arms.flatMap(({ arm, traits }) => {
    const mark = armRegistry.mark(arm);
    return mark === undefined || isDeepStrictEqual(mark, traits.mark) ? [] : [{ traits, mark }];
  });
  if (differing.length === 0) return;
  for (const { traits, mark } of differing) traits.mark = mark;
  await writeText(join(folder, 'results.json'), resultsText(document));
}

/** Draws stored reports again from their results, with the marks of today. No number changes. */
export async function redrawReports(path: string): Promise<number> {
  const folders = findReports(path);
  for (const folder of folders) await renewMarks(folder);
  for (const [folder, runs] of drawnReports(folders)) {
    await redrawReport(folder, runs);
    process.stdout.write(`${printable(shownPath(folder))}: drawn\n`);
  }
  return exitCodes.ok;
}

/** Names the files of stored reports that are not drawn as today. */
export async function checkReports(path: string): Promise<number> {
  let differences = 0;
  for (const [folder, runs] of drawnReports(findReports(path))) {
    const found = await checkDrawings(folder, runs);
    const lines = found.length === 0 ? ['agrees with its results'] : found;
    process.stdout.write(lines.map((line) => `${printable(`${shownPath(folder)}: ${line}`)}\n`).join(''));
    differences += found.length;
  }
  return differences === 0 ? exitCodes.ok : exitCodes.checkFailed;
}
