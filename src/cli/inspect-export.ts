import { join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { exportRun } from '../inspect/export/export-run.ts';
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
  using display = quiet ? undefined : new ProgressDisplay(process.stderr);
  const interruption = new AbortController();
  const onProgress = (done: number, total: number) => display?.show({ phase: 'turns', done, total });
  const write = () =>
    exportRun(database, { run, folder, mostBytes, onProgress, script: viewerScript(), signal: interruption.signal });
  try {
    const { files, bytes, items, turns, leftOut } = await interruptible(
      interruption,
      write,
      () => display?.say('stopping'),
      exitCodes.interrupted,
    );
    const size = `${Math.ceil(bytes / 1e6)} MB`;
    process.stdout.write(
      `${printable(shownPath(join(folder, 'index.html')))}: run ${printable(run)}, ${items} items, ${turns} turns, ` +
        `${files} files, ${size}\n${leftOut === undefined ? '' : `${leftOut}\n`}`,
    );
    return exitCodes.ok;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return exitCodes.interrupted;
  }
}
