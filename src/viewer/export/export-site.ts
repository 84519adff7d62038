import type { BenchDatabase } from '../../store/database.ts';
import { RunGrowthRepository } from '../../store/run-growth-repository.ts';
import { runNamed } from '../find-run.ts';
import { layout } from '../layout.ts';
import type { Links } from '../links.ts';
import { readRunsPage } from '../runs/read-runs-page.ts';
import { runsPage } from '../runs/runs-page.ts';
import { style } from '../style.ts';
import { ExportFolder } from './export-folder.ts';
import { ExportFiles, exportLinks } from './export-links.ts';
import { type RunExport, writeRun } from './export-run.ts';
import { policy } from './page-writer.ts';

/** The content of a finished site. */
export interface ExportedSite {
  readonly runs: number;
  readonly items: number;
  readonly turns: number;
  readonly files: number;
  readonly bytes: number;
  /** Of runs that are not complete: what was left out, and the reason, in a sentence each. */
  readonly leftOut: readonly string[];
}

/**
 * Writes all runs of a database as one site that opens from disk: an index of them, and a folder for each.
 * @param options.mostBytes of all runs together; those that come first have theirs whole
 * @throws BenchError as `exportRun`
 */
export async function exportSite(database: BenchDatabase, options: Omit<RunExport, 'run'>): Promise<ExportedSite> {
  const { onProgress, mostBytes } = options;
  const model = readRunsPage(database, {}, Number.MAX_SAFE_INTEGER);
  const names = model.runs.map(({ name }) => name);
  const turnsOf = (name: string): number => new RunGrowthRepository(database, runNamed(database, name).id).turns();
  const total = names.reduce((sum, name) => sum + turnsOf(name), 0);
  const places = new Map(names.map((name, index) => [name, `report-${index + 1}`]));
  using folder = new ExportFolder(options.folder);
  const site = { runs: names.length, items: 0, turns: 0 };
  const leftOut: string[] = [];
  for (const [run, place] of places) {
    const made = await writeRun(database, folder.part(place), {
      ...options,
      run,
      inSite: true,
      mostBytes: mostBytes - folder.bytes,
      onProgress: (done) => onProgress(site.turns + done, total),
    });
    site.items += made.items;
    site.turns += made.turns;
    if (made.leftOut !== undefined) leftOut.push(`${run}: ${made.leftOut}`);
  }
  const files = new ExportFiles();
  const base = exportLinks(files, files.index, { opensTurns: options.hasTurns, inSite: false });
  const links: Links = { ...base, run: (run) => `${places.get(run)!}/${files.index}` };
  await folder.write(files.style, style);
  await folder.write(files.script, options.script);
  await folder.write(
    files.index,
    await layout({ title: 'Runs', links, breadcrumbs: [], body: runsPage(model, links), page: 'runs', policy }),
  );
  const { files: written, bytes } = folder;
  folder.finish();
  return { ...site, files: written, bytes, leftOut };
}
