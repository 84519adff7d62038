/**
 * The report of a run on disk: `results.json`, the outcomes of its turns, tables in all formats, figures and `report.html`.
 * Tables, figures and page can be redrawn from `results.json`.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BenchError } from '../base/bench-error.ts';
import { diskErrorHint } from '../base/disk-error-hint.ts';
import { readToEnd } from '../base/read-remove-rename-files.ts';
import { renderCsv } from '../render/table-csv.ts';
import { renderJson } from '../render/table-json.ts';
import { renderLatex } from '../render/table-latex.ts';
import { renderMarkdown } from '../render/table-markdown.ts';
import { escapedControls } from '../render/escape-control-characters.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { allTables, checksTable, figureFiles } from './report-contents.ts';
import { renderReport } from './html/report-page.ts';

/** Renderers of tables, by the suffix of the file. */
export const renderers = { md: renderMarkdown, tex: renderLatex, csv: renderCsv, json: renderJson } as const;

/** File of the outcomes of a run's turns. */
export const OUTCOMES_FILE = 'outcomes.jsonl.gz';

type Files = Map<string, string>;

const READABLE_BY_OTHERS = 0o004;

const MAX_BYTES = 2 ** 30;

export const rewriteHint = 'write the report again: npx dki-bench tables --run NAME --write';

/** Reads a file of a report, and decompresses `.gz`. @throws BenchError `bad-data` */
export function readReportText(path: string): string {
  try {
    const bytes = readToEnd(path);
    return (path.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes).toString();
  } catch (error) {
    throw new BenchError('bad-data', `${path}: cannot be read: ${(error as Error).message}`, rewriteHint, error);
  }
}

/** Parses JSON of a report. @param place file and line, for messages @throws BenchError `bad-data` */
export function parseReportJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BenchError('bad-data', `${place}: is not JSON: ${(error as Error).message}`, rewriteHint, error);
  }
}

async function drawings(runs: readonly RunResults[]): Promise<Files> {
  const page = ['report.html', await renderReport(runs)] as const;
  const [results] = runs;
  if (results === undefined || runs.length > 1) return new Map([page]);
  const tables = [...allTables(results), checksTable(results)];
  return new Map([
    ...tables.flatMap((table) =>
      Object.entries(renderers).map(([suffix, render]) => [`tables/${table.id}.${suffix}`, render(table)] as const),
    ),
    ...(await figureFiles(results)),
    page,
  ]);
}

export const resultsText = (results: unknown): string => `${escapedControls(JSON.stringify(results))}\n`;

async function allFiles(runs: readonly RunResults[], outcomes: string | undefined): Promise<Files> {
  const ofTurns = outcomes === undefined ? [] : [[OUTCOMES_FILE, outcomes] as const];
  const ofRun = runs.length > 1 ? [] : [['results.json', resultsText(runs[0])] as const, ...ofTurns];
  return new Map([...ofRun, ...(await drawings(runs))]);
}

/**
 * Writes the report of a run, or the joint page of several suites of one run name. Each file is written under a temporary
 * name and then renamed, so that a reader never sees half a file.
 * @param outcomes `outcomeLines` of a single run; without them the viewer has no matrix for the report
 * @throws BenchError `disk` if the folder cannot be written
 */
export async function writeReport(folder: string, runs: readonly RunResults[], outcomes?: string): Promise<void> {
  writeFiles(folder, await allFiles(runs, outcomes));
}

/** Redraws tables, figures and `report.html` from results. @throws BenchError as `writeReport` */
export async function redrawReport(folder: string, runs: readonly RunResults[]): Promise<void> {
  writeFiles(folder, await drawings(runs));
}

/** Writes files that only the user may read, unless others may read the folder of the reports and its parent. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  const above = [dirname(folder), dirname(dirname(resolve(folder)))];
  const isShared = above.every((path) => existsSync(path) && (statSync(path).mode & READABLE_BY_OTHERS) !== 0);
  const [ofFolder, ofFile] = isShared ? [0o777, 0o666] : [0o700, 0o600];
  for (const [name, content] of files) {
    const path = join(folder, name);
    const unfinished = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: ofFolder });
      const bytes = name.endsWith('.gz') ? gzipSync(content, { level: 9 }) : content;
      writeFileSync(unfinished, bytes, { mode: ofFile });
      renameSync(unfinished, path);
    } catch (error) {
      if (existsSync(unfinished)) rmSync(unfinished);
      const { message } = error as Error;
      const hint = `${diskErrorHint(error)}, or name another folder with --out; the turns are stored: npx dki-bench tables writes the report`;
      throw new BenchError('disk', `the report cannot be written: ${message}`, hint, error);
    }
  }
}

/** Lists the differences between a stored report and recomputed results. @throws BenchError `not-found` without a report */
export async function checkReport(folder: string, runs: readonly RunResults[], outcomes?: string): Promise<string[]> {
  const files = await allFiles(runs, outcomes);
  const path = join(folder, 'results.json');
  if (files.has('results.json') && !existsSync(path)) {
    throw new BenchError('not-found', `${path} does not exist`, 'check with the --out of that run');
  }
  return [...files].flatMap(([name, expected]) => differences(folder, name, expected) ?? [`${name}: missing`]);
}

/** Lists the stored files of a report that would now be drawn differently; ignores missing files. */
export async function checkDrawings(folder: string, runs: readonly RunResults[]): Promise<string[]> {
  return [...(await drawings(runs))].flatMap(([name, expected]) => differences(folder, name, expected) ?? []);
}

function differences(folder: string, name: string, expected: string): string[] | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  const found = readReportText(path);
  if (found === expected) return [];
  if (name !== 'results.json') return [`${name}: differs`];
  return differingPaths(parseReportJson(found, path), JSON.parse(expected)).map((place) => `${name}: ${place} differs`);
}

function differingPaths(a: unknown, b: unknown, path = ''): string[] {
  if (isDeepStrictEqual(a, b)) return [];
  const branching = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null;
  if (!branching(a) || !branching(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differingPaths(a[key], b[key], path === '' ? key : `${path}.${key}`));
}
