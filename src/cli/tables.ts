import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { loadBenchConfig } from '../config/load-config.ts';
import type { RunResults } from '../records/results.ts';
import { groupOf } from '../db/run-name.ts';
import { resultsOfRuns } from '../eval/analysis/stored-results.ts';
import { printable, printableJson } from '../report/render/printable.ts';
import { tableAsJson } from '../report/render/json.ts';
import { checkReport, renderers, writeReport } from '../report/report-files.ts';
import { lackOfProof } from '../report/table.ts';
import { namedTable, shownTables, tableNames } from '../report/tables/report-tables.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { openStoredRuns } from './stored-runs.ts';

interface TablesFlags {
  readonly run?: string;
  readonly out?: string;
  readonly db?: string;
  readonly table?: string;
  readonly format: keyof typeof renderers;
  readonly check?: true;
  readonly write?: true;
}

/** Declares `tables`. */
export function declareTables(command: Command): void {
  command.description('draw the tables of a run from its stored turns');
  addConfigOptions(command, ['out', 'db'])
    .option('--run <name>', 'name of the run, or of several suites (default: the latest)')
    .addOption(new Option('--table <name>', "table to draw (default: those of the run's suite)").choices(tableNames))
    .addOption(new Option('--format <name>', 'format of the tables').choices(Object.keys(renderers)).default('md'))
    .option('--check', 'compare with the report that the run wrote')
    .option('--write', 'write the report again')
    .action(async (flags: TablesFlags) => {
      process.exitCode = await tables(flags);
    });
}

async function tables({ run, out, db, table, format, check, write }: TablesFlags): Promise<number> {
  const config = loadBenchConfig({ flags: { out, db } });
  using database = openStoredRuns(config.db);
  const runs = resultsOfRuns(database, run);
  if (check === true) return await checked(config.out, runs);
  if (write === true) return await written(config.out, runs);
  const chosen = table === undefined ? runs.flatMap(shownTables) : [namedTable(runs, table)];
  if (format === 'json' && chosen.length > 1) process.stdout.write(printableJson(chosen.map(tableAsJson)));
  else process.stdout.write(chosen.map(renderers[format]).join('\n'));
  const lacking = runs.flatMap((results) => {
    const lack = lackOfProof(results);
    return lack === undefined ? [] : `${results.run.name}: ${lack}\n`;
  });
  process.stderr.write(lacking.join(''));
  return lacking.length === 0 ? exitCodes.ok : exitCodes.checkFailed;
}

/** The reports by folder: one for each run, and one for all if there are several. */
function reportsOf(
  out: string,
  runs: readonly RunResults[],
): (readonly [folder: string, runs: readonly RunResults[]])[] {
  const reports = runs.map((results) => [join(out, results.run.name), [results]] as const);
  return runs.length > 1 ? [...reports, [join(out, groupOf(runs[0]!.run.name)), runs] as const] : reports;
}

async function written(out: string, runs: readonly RunResults[]): Promise<number> {
  for (const [folder, shown] of reportsOf(out, runs)) {
    await writeReport(folder, shown);
    process.stdout.write(`${shownPath(folder)}: written\n`);
  }
  return exitCodes.ok;
}

/** Compares each report with the stored turns, and reports the differences. */
async function checked(out: string, runs: readonly RunResults[]): Promise<number> {
  let differences = 0;
  for (const [folder, shown] of reportsOf(out, runs)) {
    const found = await checkReport(folder, shown);
    const lines = found.length === 0 ? ['agrees with the stored turns'] : found;
    process.stdout.write(lines.map((line) => `${shownPath(folder)}: ${printable(line)}\n`).join(''));
    differences += found.length;
  }
  return differences === 0 ? exitCodes.ok : exitCodes.checkFailed;
}
