import { join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import type { BenchDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { exportRun, type RunExport } from '../viewer/export/export-run.ts';
import { exportSite } from '../viewer/export/export-site.ts';
import type { HiddenTexts } from '../viewer/hidden-texts.ts';
import { openReports, type TextsOfRun } from '../viewer/stored-reports/open-reports.ts';
import { viewerScript } from '../viewer/server/viewer-script.ts';
import { printable } from '../render/printable.ts';
import { shownPath } from './command-line.ts';
import { exitCodes } from '../base/exit-codes.ts';
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
  /** One of its runs; by default all. */
  readonly run: string | undefined;
  readonly folder: string;
  readonly hidden: HiddenTexts;
  readonly textsOf: TextsOfRun;
  readonly quiet: boolean;
}

/** Exports stored reports, which need no database: one, or all of a folder as one site. @returns the exit code */
export async function exportReports({ path, run, folder, hidden, textsOf, quiet }: ReportExport): Promise<number> {
  using database = (await openReports(path, textsOf)).database;
  const several = run === undefined && new RunRepository(database).names().length > 1;
  if (several) return await exportAll(database, { folder, hasTurns: false, hidden }, quiet);
  const { name } = findRun(database, run);
  return await exportNamed(database, { run: name, folder, hasTurns: false, hidden }, quiet);
}

type Wanted = Pick<RunExport, 'folder' | 'hasTurns' | 'hidden'>;

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

async function exportNamed(
  database: BenchDatabase,
  wanted: Wanted & Pick<RunExport, 'run'>,
  quiet: boolean,
): Promise<number> {
  return await exported(wanted.folder, quiet, async (options) => {
    const { files, bytes, items, turns, leftOut } = await exportRun(database, { ...wanted, ...options });
    const counts = `${items} items, ${turns} turns, ${files} files, ${megabytes(bytes)}`;
    return [`run ${printable(wanted.run)}, ${counts}`, ...(leftOut === undefined ? [] : [leftOut])];
  });
}

async function exportAll(database: BenchDatabase, wanted: Wanted, quiet: boolean): Promise<number> {
  return await exported(wanted.folder, quiet, async (options) => {
    const { runs, items, turns, files, bytes, leftOut } = await exportSite(database, { ...wanted, ...options });
    return [
      `${runs} runs, ${items} items, ${turns} turns, ${files} files, ${megabytes(bytes)}`,
      ...leftOut.map(printable),
    ];
  });
}

/** Shows an export as it is written, and prints its lines at the end. @returns the exit code */
async function exported(
  folder: string,
  quiet: boolean,
  write: (options: Pick<RunExport, 'mostBytes' | 'onProgress' | 'script' | 'signal'>) => Promise<readonly string[]>,
): Promise<number> {
  using display = quiet ? undefined : new ProgressDisplay(process.stderr);
  const interruption = new AbortController();
  const onProgress = (done: number, total: number) => display?.show({ phase: 'turns', done, total });
  const options = { mostBytes, onProgress, script: viewerScript(), signal: interruption.signal };
  try {
    const [first, ...others] = await interruptible(
      interruption,
      () => write(options),
      () => display?.say('stopping'),
      exitCodes.interrupted,
    );
    const index = printable(shownPath(join(folder, 'index.html')));
    process.stdout.write([`${index}: ${first!}`, ...others].map((line) => `${line}\n`).join(''));
    return exitCodes.ok;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return exitCodes.interrupted;
  }
}
