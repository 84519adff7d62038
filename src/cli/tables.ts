import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { loadBenchConfig } from '../config/load-config.ts';
import { resultsOfRun } from '../eval/stored-results.ts';
import { printable, printableJson } from '../report/printable.ts';
import { tableAsJson } from '../report/render-json.ts';
import { checkReport, numberedTables, renderers } from '../report/report-files.ts';
import { lackOfProof } from '../report/table.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { openStoredRuns } from './stored-runs.ts';

interface TablesFlags {
  readonly run?: string;
  readonly out?: string;
  readonly db?: string;
  readonly table?: '1' | '1b' | 'breakdown';
  readonly format: 'md' | 'tex' | 'csv' | 'json';
  readonly check?: true;
}

/** Declares `tables`. */
export function declareTables(command: Command): void {
  command.description('draw the tables of a run again from its stored turns');
  addConfigOptions(command, ['run', 'out', 'db'])
    .addOption(new Option('--table <name>', 'which table (default: 1 and 1b)').choices(['1', '1b', 'breakdown']))
    .addOption(new Option('--format <name>', 'how to write it').choices(Object.keys(renderers)).default('md'))
    .option('--check', 'compare with the report that the run wrote')
    .action((flags: TablesFlags) => {
      process.exitCode = tables(flags);
    });
}

function tables({ run, out, db, table, format, check }: TablesFlags): number {
  const config = loadBenchConfig({ flags: { run, out, db } });
  using database = openStoredRuns(config.db);
  const results = resultsOfRun(database, config.run);
  const folder = join(config.out, results.run.name);
  if (check === true) {
    const differences = checkReport(folder, results);
    const found = differences.length === 0 ? ['agrees with the stored turns'] : differences;
    process.stdout.write(found.map((line) => `${shownPath(folder)}: ${printable(line)}\n`).join(''));
    return differences.length === 0 ? exitCodes.ok : exitCodes.gateFailed;
  }
  const numbered = numberedTables(results);
  const chosen = table === undefined ? [numbered['1'], numbered['1b']] : [numbered[table]];
  const [only] = chosen;
  if (format === 'json' && chosen.length > 1) process.stdout.write(printableJson(chosen.map(tableAsJson)));
  else process.stdout.write(chosen.map(renderers[format]).join('\n'));
  const lack = lackOfProof(results);
  if (lack === undefined || only === undefined) return exitCodes.ok;
  process.stderr.write(`${lack}\n`);
  return exitCodes.gateFailed;
}
