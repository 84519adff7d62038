import { once } from 'node:events';
import { join, dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { findRuns, hasEnded, resultsOf, resultsOfRuns } from '../eval/analysis/results-from-stored-turns.ts';
import { isUnfinished, unfinishedResults } from '../eval/analysis/unfinished-run-results.ts';
import { pictureFile, renderFigure } from '../render/figure.ts';
import { tableAsJson } from '../render/table-json.ts';
import { printable, printableJson } from '../render/escape-control-characters.ts';
import { lackOfProof, progressText } from '../report/validity-caveats.ts';
import { storedOutcomes } from '../report/turn-outcomes-file.ts';
import {
  checkReport,
  renderers,
  writeReport,
  checkDrawings,
  redrawReport,
  resultsText,
  writeFiles,
} from '../report/report-files.ts';
import { modelSizeFigure } from '../report/topics/categories.ts';
import { findTable, shownTables, tableNames } from '../report/report-contents.ts';
import { type TurnFormat, turnFormats, turnLines } from '../report/export-turns.ts';
import type { BenchDatabase } from '../store/database.ts';
import type { RunResults } from '../store/records/run-results.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { groupName } from '../store/run-names.ts';
import { UserClaimRepository } from '../store/user-claim-repository.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import { exitCode } from './bench.ts';
import { addConfigOptions, refuseUnusedFlags, withExamples } from './options.ts';
import { openStoredRuns } from './stored-runs.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Mark } from '../store/records/arm-traits.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { findReports, readReport, reportDocument } from '../viewer/open-reports.ts';
import { displayPath, printLines } from './output.ts';

type TablesFlags = Readonly<
  Partial<Record<'run' | 'out' | 'db' | 'table' | 'figure' | 'report', string> & Record<'check' | 'write', true>>
> & { readonly perTurn?: TurnFormat; readonly format: keyof typeof renderers };

export function declare(command: Command): void {
  command.description('draw the tables of a run from its stored turns, also while it is running');
  addConfigOptions(command, ['out', 'db'])
    .option(
      '--run <name>',
      'name of the run, or of several suites; to draw, also several, comma-separated (default: the latest)',
    )
    .addOption(new Option('--table <name>', "table to draw (default: those of the run's suite)").choices(tableNames))
    .addOption(
      new Option(
        '--figure <arms>',
        'SVG of the differences of these arms to text, by size of model and kind of question',
      ).conflicts(['table', 'perTurn']),
    )
    .addOption(new Option('--format <name>', 'format of the tables').choices(Object.keys(renderers)).default('md'))
    .addOption(
      new Option('--per-turn <format>', 'one line per turn instead of tables')
        .choices(turnFormats)
        .conflicts(['table', 'check', 'write']),
    )
    .addOption(
      new Option('--check', 'compare with the report that the run wrote').conflicts(['write', 'table', 'figure']),
    )
    .addOption(new Option('--write', 'write the report again').conflicts(['table', 'figure']))
    .option('--report <path>', 'folder of reports, or a file of one, to draw from instead of a database')
    .action(async (flags: TablesFlags) => {
      const { report, ...others } = flags;
      process.exitCode = report === undefined ? await databaseTables(others) : await reportTables(report, others);
    });
  withExamples(command, {
    'tables --table 1 --format tex': 'a table of the last run, for a paper',
    'tables --run demo --check': 'do the reports agree with the stored turns?',
    'tables --table contrast --run small,large': 'the contrast that the data plan, adjusted over the models',
    'tables --run small,large --figure dki-blocks,dki-link:4': 'the differences by size of model, as an SVG picture',
    'tables --per-turn csv': 'one line per turn: answers, metrics, tokens, times',
  });
}

async function reportTables(path: string, given: TablesFlags): Promise<number> {
  const { table: _table, figure: _figure, format: _format, check, write, ...others } = given;
  refuseUnusedFlags({ ...others }, 'has no effect with --report, which opens no database');
  if (check === true) return await checkReports(path);
  if (write === true) return await redrawReports(path);
  return await print(storedReports(path), given);
}

async function databaseTables(given: TablesFlags): Promise<number> {
  const { run, table: _table, figure: _figure, format: _format, perTurn, check, write, ...flags } = given;
  const config = loadBenchConfig({ flags });
  using database = openStoredRuns(config.db);
  if (perTurn !== undefined) return await listTurns(database, run, perTurn);
  if (check === true || write === true) {
    const all = withGroups(
      resultsOfRuns(database, run).map((results) => {
        const outcomes = storedOutcomes(database, results.run.id);
        return { folder: join(config.out, results.run.name), runs: [results], outcomes };
      }),
    );
    if (check !== true) {
      return await writeReports(all, ({ folder, runs, outcomes }) => writeReport(folder, runs, outcomes), 'written');
    }
    const compare = ({ folder, runs, outcomes }: ReportContent) => checkReport(folder, runs, outcomes);
    return await compareReports(all, compare, 'agrees with the stored turns');
  }
  const names = run?.split(',').map((name) => name.trim()) ?? [undefined];
  const found = names.flatMap((name) => findRuns(database, name));
  const runs = availableResults(database, found);
  return runs.length === 0 ? exitCodes.ok : await print(runs, given);
}

async function print(runs: readonly RunResults[], { table, figure, format }: TablesFlags): Promise<number> {
  return figure === undefined ? printTables(runs, table, format) : await printFigure(runs, figure);
}

/** Prints the figure of differences by size of model. @throws BenchError `not-found` if the runs have no such differences */
async function printFigure(runs: readonly RunResults[], arms: string): Promise<number> {
  const figure = modelSizeFigure(runs, arms.split(','));
  if (figure === undefined) {
    const message = `these runs have no difference to text by category for ${arms}`;
    throw new BenchError('not-found', message, 'name arms of runs on data that plan a contrast, such as facts-en-2');
  }
  process.stdout.write(pictureFile(await renderFigure(figure)));
  return exitCode(runs);
}

/** Prints tables of runs. @returns the exit code, ok for unfinished runs */
function printTables(runs: readonly RunResults[], table: string | undefined, format: TablesFlags['format']): number {
  const chosen = table === undefined ? runs.flatMap(shownTables) : [findTable(runs, table)];
  if (format === 'json' && chosen.length > 1) process.stdout.write(printableJson(chosen.map(tableAsJson)));
  else process.stdout.write(chosen.map(renderers[format]).join('\n'));
  for (const results of runs) {
    const lack = lackOfProof(results);
    if (lack !== undefined) printLines([`${results.run.name}: ${lack}`], process.stderr);
  }
  return exitCode(runs);
}

/** The results of runs. An unfinished run has those of users whose turns are complete, or prints a message if there are none. */
function availableResults(database: BenchDatabase, runs: readonly RunRecord[]): RunResults[] {
  const turns = new TurnRepository(database);
  return runs.flatMap((run) => {
    if (hasEnded(run)) return resultsOf(database, run);
    if (!isUnfinished(run)) {
      throw new BenchError('not-found', `run "${run.name}" has no turn yet`, continueHint(run.name));
    }
    const underWay = new UserClaimRepository(database, run.id).unfinished();
    const { progress, results } = unfinishedResults(run, turns.listForResults(run.id), underWay);
    if (results === null) printLines([`${run.name}: ${progressText(progress)}: nothing to show yet`], process.stderr);
    return results ?? [];
  });
}

/** Writes one line per turn to standard output, waiting whenever its reader is slow. */
async function listTurns(database: BenchDatabase, name: string | undefined, format: TurnFormat): Promise<number> {
  const turns = new TurnRepository(database);
  const runs = findRuns(database, name);
  const listed = runs.map((run) => ({ run, turns: turns.listForResults(run.id) }));
  // A terminal would obey control characters; a file gets them unchanged.
  const shown = (line: string): string =>
    process.stdout.isTTY ? line.replaceAll(/[^\r\n]+/g, (part) => printable(part)) : line;
  for (const line of turnLines(listed, format)) {
    if (!process.stdout.write(shown(line))) await once(process.stdout, 'drain');
  }
  for (const run of runs.filter((one) => !hasEnded(one))) {
    printLines([`${run.name}: UNFINISHED: ${continueHint(run.name)}`], process.stderr);
  }
  return exitCodes.ok;
}

function continueHint(run: string): string {
  return `wait for it, or continue it: npx dki-bench bench --resume ${groupName(run)}`;
}

interface ReportContent {
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

function drawnReports(folders: readonly string[]): ReportContent[] {
  return withGroups(folders.map((folder) => ({ folder, runs: [readReport(folder)] })));
}

/** Adds a report of all suites of a run, in the parent folder of their reports. */
function withGroups(reports: readonly ReportContent[]): ReportContent[] {
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

async function writeReports(
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
async function compareReports(
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
