import { join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import type { BenchDatabase } from '../db/database.ts';
import { exportRun, type RunExport } from '../inspect/export/export-run.ts';
import type { HiddenTexts } from '../inspect/hidden-texts.ts';
import { openReports, type TextsOfRun } from '../inspect/stored-reports/open-reports.ts';
import { viewerScript } from '../inspect/server/viewer-script.ts';
import { printable } from '../report/render/printable.ts';
import { shownPath } from './command-line.ts';
import { exitCodes } from './failure.ts';
import { interruptible } from './interruption.ts';
import { ProgressDisplay } from './progress.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

/** Limit of an export, so that it can be sent by e-mail and opened in a file manager. */
const mostBytes = 200_000_000;

/**
 * Exports a run, by default the latest, and reports on standard output what was written and what was left out.
 * @returns the exit code
 */
export async function exportToFolder(
  { db, quiet }: Pick<BenchConfig, 'db' | 'quiet'>,
  name: string | undefined,
  folder: string,
): Promise<number> {
  using database = openStoredRuns(db, { readOnly: true });
  const { name: run } = findRun(database, name);
  return await exportNamed(database, { run, folder, hasTurns: true }, quiet);
}

/** A report to export. */
export interface ReportExport {
  /** A folder of reports, or a file of one. */
  readonly path: string;
  /** Its run; by default the latest. */
  readonly run: string | undefined;
  readonly folder: string;
  readonly hidden: HiddenTexts;
  readonly textsOf: TextsOfRun;
  readonly quiet: boolean;
}

/** Exports a stored report, which needs no database. @returns the exit code */
export async function exportReports({ path, run, folder, hidden, textsOf, quiet }: ReportExport): Promise<number> {
  using database = (await openReports(path, textsOf)).database;
  const { name } = findRun(database, run);
  return await exportNamed(database, { run: name, folder, hasTurns: false, hidden }, quiet);
}

async function exportNamed(
  database: BenchDatabase,
  wanted: Pick<RunExport, 'run' | 'folder' | 'hasTurns' | 'hidden'>,
  quiet: boolean,
): Promise<number> {
  using display = quiet ? undefined : new ProgressDisplay(process.stderr);
  const interruption = new AbortController();
  const onProgress = (done: number, total: number) => display?.show({ phase: 'turns', done, total });
  const options = { ...wanted, mostBytes, onProgress, script: viewerScript(), signal: interruption.signal };
  try {
    const { files, bytes, items, turns, leftOut } = await interruptible(
      interruption,
      () => exportRun(database, options),
      () => display?.say('stopping'),
      exitCodes.interrupted,
    );
    const size = `${Math.ceil(bytes / 1e6)} MB`;
    process.stdout.write(
      `${printable(shownPath(join(wanted.folder, 'index.html')))}: run ${printable(wanted.run)}, ${items} items, ` +
        `${turns} turns, ${files} files, ${size}\n${leftOut === undefined ? '' : `${leftOut}\n`}`,
    );
    return exitCodes.ok;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return exitCodes.interrupted;
  }
}
