import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';

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

/**
 * Finds the folders of reports: that of a `results.json` or `report.html`, or all below a folder, by name.
 * @throws BenchError `not-found` where there is none
 */
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
