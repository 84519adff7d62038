import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../config/bench-error.ts';
import type { RunResults } from '../eval/results.ts';
import { comparisonsTables } from './comparisons-table.ts';
import { gatesTable } from './gates-table.ts';
import { printableJson } from './printable.ts';
import { renderCsv } from './render-csv.ts';
import { renderJson } from './render-json.ts';
import { renderLatex } from './render-latex.ts';
import { renderMarkdown } from './render-markdown.ts';
import { tableBreakdown } from './table-breakdown.ts';
import { tableOneB } from './table-one-b.ts';
import { tableOne } from './table-one.ts';
import type { Table } from './table.ts';

/** How a table is written to a file, by the suffix of the file. */
export const renderers = { md: renderMarkdown, tex: renderLatex, csv: renderCsv, json: renderJson } as const;

/** The tables of a run by the name that `--table` takes. */
export function numberedTables(results: RunResults): Readonly<Record<'1' | '1b' | 'breakdown', Table>> {
  return { '1': tableOne(results), '1b': tableOneB(results), breakdown: tableBreakdown(results) };
}

/** All files of a report, by their paths within its folder. */
function filesOf(results: RunResults): Map<string, string> {
  const tables = [...Object.values(numberedTables(results)), ...comparisonsTables(results), gatesTable(results)];
  return new Map([
    ['results.json', printableJson(results)],
    ...tables.flatMap((table) =>
      Object.entries(renderers).map(([suffix, render]) => [`tables/${table.id}.${suffix}`, render(table)] as const),
    ),
  ]);
}

/**
 * Writes `results.json` and the tables in all formats, each first to a file beside it and then renamed, so that a
 * reader never meets half a file.
 *
 * @throws BenchError `disk` where the folder cannot be written
 */
export function writeReport(folder: string, results: RunResults): void {
  for (const [name, content] of filesOf(results)) {
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
        'make room or name another folder with --out; the turns are stored, the tables verb draws them again';
      throw new BenchError('disk', `the report cannot be written: ${message}`, hint, error);
    }
  }
}

/** The paths within two JSON values at which they differ. */
function differingPaths(a: unknown, b: unknown, path = ''): string[] {
  if (isDeepStrictEqual(a, b)) return [];
  const branching = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null;
  if (!branching(a) || !branching(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differingPaths(a[key], b[key], path === '' ? key : `${path}.${key}`));
}

/**
 * Compares a report with results computed anew from the stored turns; names what differs, nothing where all agrees.
 *
 * @throws BenchError `not-found` where there is no report
 */
export function checkReport(folder: string, results: RunResults): string[] {
  return [...filesOf(results)].flatMap(([name, expected]) => {
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
