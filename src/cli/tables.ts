import { once } from 'node:events';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { flagOf } from '../config/config-options.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import type { BenchDatabase } from '../store/database.ts';
import { RunUserRepository } from '../store/run-user-repository.ts';
import { TurnIndexRepository } from '../store/turn-index/turn-index-repository.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { RunResults } from '../store/records/results.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { groupOf } from '../store/run-name.ts';
import { hasEnded, resultsOf, resultsOfRuns, runsNamed } from '../eval/analysis/stored-results.ts';
import { isUnfinished, resultsSoFar } from '../eval/analysis/unfinished-run.ts';
import { printable, printableJson } from '../render/printable.ts';
import { tableAsJson } from '../render/json.ts';
import { storedOutcomes } from '../report/outcomes.ts';
import { checkReport, renderers, writeReport } from '../report/report-files.ts';
import { lackOfProof, progressText } from '../report/proof.ts';
import { namedTable, shownTables, tableNames } from '../report/tables/report-tables.ts';
import { type TurnFormat, turnFormats, turnLines } from '../report/turn-lines.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { openStoredRuns } from './stored-runs.ts';

interface TablesFlags {
  readonly run?: string;
  readonly out?: string;
  readonly db?: string;
  readonly table?: string;
  readonly perTurn?: TurnFormat;
  readonly format: keyof typeof renderers;
  readonly check?: true;
  readonly write?: true;
  readonly report?: string;
}

/** Declares `tables`. */
export function declareTables(command: Command): void {
  command.description('draw the tables of a run from its stored turns, those of one under way included');
  addConfigOptions(command, ['out', 'db'])
    .option('--run <name>', 'name of the run, or of several suites (default: the latest)')
    .addOption(new Option('--table <name>', "table to draw (default: those of the run's suite)").choices(tableNames))
    .addOption(new Option('--format <name>', 'format of the tables').choices(Object.keys(renderers)).default('md'))
    .addOption(new Option('--per-turn <format>', 'a line a turn in place of tables').choices(turnFormats))
    .option('--check', 'compare with the report that the run wrote')
    .option('--write', 'write the report again')
    .option('--report <path>', 'folder of reports, or a file of one, to draw from in place of a database')
    .action(async (flags: TablesFlags) => {
      process.exitCode = await tables(flags);
    });
}

async function tables({ report, ...flags }: TablesFlags): Promise<number> {
  return report === undefined ? await ofDatabase(flags) : await ofReports({ ...flags, report });
}

/** Draws stored reports; options of databases are refused. */
async function ofReports({
  report,
  table,
  format,
  check,
  write,
  ...others
}: TablesFlags & { readonly report: string }) {
  const [named] = Object.keys(others);
  if (named !== undefined) {
    const what = `${flagOf(named)} has no effect with --report, which opens no database`;
    throw new BenchError('bad-option', what, 'drop it');
  }
  const { checkReports, redrawReports, storedReports } = await import('./stored-reports.ts');
  if (check === true) return await checkReports(report);
  if (write === true) return await redrawReports(report);
  return printed(storedReports(report), table, format);
}

async function ofDatabase({
  run,
  out,
  db,
  table,
  format,
  perTurn,
  check,
  write,
}: Omit<TablesFlags, 'report'>): Promise<number> {
  const config = loadBenchConfig({ flags: { out, db } });
  using database = openStoredRuns(config.db);
  if (perTurn !== undefined) {
    const other = [table === undefined ? undefined : '--table', check && '--check', write && '--write'].find(Boolean);
    if (other === undefined) return await listed(database, run, perTurn);
    throw new BenchError('bad-option', `--per-turn lists turns, and ${other} is about tables`, 'give one of them');
  }
  if (check === true) return await checked(database, config.out, resultsOfRuns(database, run));
  if (write === true) return await written(database, config.out, resultsOfRuns(database, run));
  const named = runsNamed(database, run);
  const runs = storedSoFar(database, named);
  const code = runs.length === 0 ? exitCodes.ok : printed(runs, table, format);
  // Of runs of before there were indexes.
  const indexes = new TurnIndexRepository(database);
  for (const { id } of named.filter(hasEnded)) indexes.make(id);
  return code;
}

/** Prints tables of runs. @returns the exit code */
function printed(runs: readonly RunResults[], table: string | undefined, format: TablesFlags['format']): number {
  const chosen = table === undefined ? runs.flatMap(shownTables) : [namedTable(runs, table)];
  if (format === 'json' && chosen.length > 1) process.stdout.write(printableJson(chosen.map(tableAsJson)));
  else process.stdout.write(chosen.map(renderers[format]).join('\n'));
  const lacking = runs.flatMap((results) => {
    const lack = lackOfProof(results);
    return lack === undefined ? [] : `${results.run.name}: ${lack}\n`;
  });
  process.stderr.write(lacking.join(''));
  // To be unfinished is no failure: who asks for it knows.
  const isProven = ({ checks }: RunResults): boolean => checks.every(({ status }) => status !== 'failed');
  return runs.every(isProven) ? exitCodes.ok : exitCodes.checkFailed;
}

/** The results of runs, of unfinished ones over the users whose turns are all there; says which have no such user. */
function storedSoFar(database: BenchDatabase, runs: readonly RunRecord[]): RunResults[] {
  const turns = new TurnRepository(database);
  return runs.flatMap((run) => {
    if (hasEnded(run)) return resultsOf(database, run);
    if (!isUnfinished(run)) {
      throw new BenchError('not-found', `run "${run.name}" has asked nothing yet`, goOn(run.name));
    }
    const underWay = new RunUserRepository(database, run.id).underWay();
    const { progress, results } = resultsSoFar(run, turns.listForResults(run.id), underWay);
    if (results === null) process.stderr.write(`${run.name}: ${progressText(progress)}: nothing to show yet\n`);
    return results ?? [];
  });
}

/** Writes a line a turn to standard output, as fast as its reader takes them. */
async function listed(database: BenchDatabase, name: string | undefined, format: TurnFormat): Promise<number> {
  const turns = new TurnRepository(database);
  const runs = runsNamed(database, name);
  const listedRuns = runs.map((run) => ({ run, turns: turns.listForResults(run.id) }));
  // What a file holds goes on as it is; a terminal obeys control characters.
  const shown = process.stdout.isTTY ? printableLines : (text: string) => text;
  let chunk = '';
  for (const line of turnLines(listedRuns, format)) {
    chunk += shown(line);
    if (chunk.length < CHUNK_CHARACTERS) continue;
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    chunk = '';
  }
  process.stdout.write(chunk);
  const unfinished = runs.filter((run) => !hasEnded(run)).map((run) => `${run.name}: UNFINISHED: ${goOn(run.name)}\n`);
  process.stderr.write(unfinished.join(''));
  return exitCodes.ok;
}

const CHUNK_CHARACTERS = 65_536;

const printableLines = (text: string): string =>
  text
    .split(/(\r?\n)/)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('');

function goOn(run: string): string {
  return `wait for it, or go on with it: npm run bench -- --resume ${groupOf(run)}`;
}

/** The reports by folder: one for each run, and one for all if there are several. */
function reportsOf(
  out: string,
  runs: readonly RunResults[],
): (readonly [folder: string, runs: readonly RunResults[]])[] {
  const reports = runs.map((results) => [join(out, results.run.name), [results]] as const);
  return runs.length > 1 ? [...reports, [join(out, groupOf(runs[0]!.run.name)), runs] as const] : reports;
}

/** The outcomes that stand in the report of one run; that of several has none. */
function outcomesOfReport(database: BenchDatabase, [run, ...others]: readonly RunResults[]): string | undefined {
  return run === undefined || others.length > 0 ? undefined : storedOutcomes(database, run.run.id);
}

async function written(database: BenchDatabase, out: string, runs: readonly RunResults[]): Promise<number> {
  for (const [folder, shown] of reportsOf(out, runs)) {
    await writeReport(folder, shown, outcomesOfReport(database, shown));
    process.stdout.write(`${printable(shownPath(folder))}: written\n`);
  }
  return exitCodes.ok;
}

/** Compares each report with the stored turns, and reports the differences. */
async function checked(database: BenchDatabase, out: string, runs: readonly RunResults[]): Promise<number> {
  let differences = 0;
  for (const [folder, shown] of reportsOf(out, runs)) {
    const found = await checkReport(folder, shown, outcomesOfReport(database, shown));
    const lines = found.length === 0 ? ['agrees with the stored turns'] : found;
    process.stdout.write(lines.map((line) => `${printable(`${shownPath(folder)}: ${line}`)}\n`).join(''));
    differences += found.length;
  }
  return differences === 0 ? exitCodes.ok : exitCodes.checkFailed;
}
