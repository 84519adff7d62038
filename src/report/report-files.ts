import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../base/bench-error.ts';
import type { RunResults } from '../store/records/results.ts';
import { figureFiles } from './figures/drawn-figures.ts';
import { renderReport } from './html/report-page.ts';
import { comparisonsTables } from './tables/comparisons-table.ts';
import { checksTable } from './tables/checks-table.ts';
import { printableJson } from '../render/printable.ts';
import { renderCsv } from '../render/csv.ts';
import { renderJson } from '../render/json.ts';
import { renderLatex } from '../render/latex.ts';
import { renderMarkdown } from '../render/markdown.ts';
import { reportTables } from './tables/report-tables.ts';

/** Renderers of tables, by the suffix of the file. */
export const renderers = { md: renderMarkdown, tex: renderLatex, csv: renderCsv, json: renderJson } as const;

/** The file of a report with the outcomes of its turns. */
export const OUTCOMES_FILE = 'outcomes.jsonl';

/** Renders what is drawn from results, by paths within the folder of the report: all for one run, `report.html` alone for several. */
async function drawingsOf(runs: readonly RunResults[]): Promise<Map<string, string>> {
  const page = ['report.html', await renderReport(runs)] as const;
  const [results] = runs;
  if (results === undefined || runs.length > 1) return new Map([page]);
  const tables = [...reportTables(results).values(), ...comparisonsTables(results), checksTable(results)];
  return new Map([
    ...tables.flatMap((table) =>
      Object.entries(renderers).map(([suffix, render]) => [`tables/${table.id}.${suffix}`, render(table)] as const),
    ),
    ...(await figureFiles(results)),
    page,
  ]);
}

/** As `drawingsOf`, of one run with what they are drawn from. */
async function filesOf(runs: readonly RunResults[], outcomes: string | undefined): Promise<Map<string, string>> {
  const drawings = await drawingsOf(runs);
  const [results] = runs;
  if (results === undefined || runs.length > 1) return drawings;
  return new Map([
    ['results.json', printableJson(results)],
    ...(outcomes === undefined ? [] : [[OUTCOMES_FILE, outcomes] as const]),
    ...drawings,
  ]);
}

/**
 * Writes the report of a run: `results.json`, the outcomes of its turns, the tables in all formats, the figures and `report.html`; for several runs of
 * one name, the page that shows them together. Each file is written beside its place and then renamed, so that a reader
 * never sees half a file.
 *
 * @param outcomes of the turns of one run (`outcomeLines`); without them the report has no matrix in the viewer
 * @throws BenchError `disk` if the folder cannot be written
 */
export async function writeReport(folder: string, runs: readonly RunResults[], outcomes?: string): Promise<void> {
  writeFiles(folder, await filesOf(runs, outcomes));
}

/** Draws a report again from its results: tables, figures and `report.html`. @throws BenchError as `writeReport` */
export async function redrawReport(folder: string, runs: readonly RunResults[]): Promise<void> {
  writeFiles(folder, await drawingsOf(runs));
}

function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, content] of files) {
    const path = join(folder, name);
    const unfinished = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(unfinished, content);
      renameSync(unfinished, path);
    } catch (error) {
      if (existsSync(unfinished)) rmSync(unfinished);
      const { message } = error as Error;
      const hint =
        'free some space, or name another folder with --out; the turns are stored: npm run tables draws them again';
      throw new BenchError('disk', `the report cannot be written: ${message}`, hint, error);
    }
  }
}

/** Finds the paths at which two JSON values differ. */
function differingPaths(a: unknown, b: unknown, path = ''): string[] {
  if (isDeepStrictEqual(a, b)) return [];
  const branching = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null;
  if (!branching(a) || !branching(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differingPaths(a[key], b[key], path === '' ? key : `${path}.${key}`));
}

/**
 * Compares a report with results computed again from the stored turns, and names the differences.
 *
 * @throws BenchError `not-found` without a report
 */
export async function checkReport(folder: string, runs: readonly RunResults[], outcomes?: string): Promise<string[]> {
  return differencesTo(folder, await filesOf(runs, outcomes));
}

/** Names the files of a report that are not drawn from its results as today. */
export async function checkDrawings(folder: string, runs: readonly RunResults[]): Promise<string[]> {
  return differencesTo(folder, await drawingsOf(runs));
}

function differencesTo(folder: string, files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([name, expected]) => {
    let found: string;
    try {
      found = readFileSync(join(folder, name), 'utf8');
    } catch (error) {
      if (name !== 'results.json') return [`${name}: missing`];
      throw new BenchError(
        'not-found',
        `${join(folder, name)} is not there`,
        'check with the --out of that run',
        error,
      );
    }
    if (found === expected) return [];
    if (!name.endsWith('results.json')) return [`${name}: differs`];
    return differingPaths(JSON.parse(found), JSON.parse(expected)).map((path) => `${name}: ${path} differs`);
  });
}
