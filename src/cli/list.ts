import type { Command } from 'commander';
import { armSettingsHelp, blockSettingsHelp } from '../systems/arms/arm-name.ts';
import { builtInMetrics } from '../eval/analysis/metrics/built-in-metrics.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { suites } from '../eval/suites/suites.ts';
import { metricsTable, runsTable } from '../report/list-command-tables.ts';
import { metricDeclaration } from '../store/records/run-description.ts';
import { RunRepository } from '../store/run-repository.ts';
import { armSummary, everyArm } from './arm-help.ts';
import { listDatasets } from './data.ts';
import { addConfigOptions, type JsonFlag, subcommand, withExamples } from './options.ts';
import { listLines, printResult, printResultTables } from './output.ts';
import { openStoredRuns } from './stored-runs.ts';

const armsHelp = `
The number in a name may be replaced by another: dki-link:16, dki-first:.15. Each arm may have settings: ${armSettingsHelp}.
Arms that join blocks of KV may have ${blockSettingsHelp}.
doctor --model NAME says which arms a model can run, and why not the others.`;

export function declare(command: Command): void {
  command.description('list the arms, suites, metrics, data sets or runs that can be named');
  withExamples(command, {
    'list arms': 'every arm, one line each; bench --arms takes them',
    'list suites': 'every suite, one line each; bench --suite takes them',
    'list datasets': 'data sets that ship, that a suite makes, and public ones that you fetch',
  });
  subcommand(command, 'arms', 'list the arms that bench --arms takes, one line each')
    .addHelpText('after', armsHelp)
    .action(listArms);
  subcommand(command, 'suites', 'list the suites that bench --suite takes, with the question that each answers').action(
    listSuites,
  );
  subcommand(command, 'metrics', 'list the metrics of an answer: which value is better, and the tolerated loss').action(
    listMetrics,
  );
  subcommand(command, 'datasets', 'list the data sets that bench --dataset takes').action(listDatasets);
  const runs = subcommand(command, 'runs', 'list the runs of a database, oldest first, and whether each has ended');
  addConfigOptions(runs, ['out', 'db']).action(listRuns);
}

function listArms({ json }: JsonFlag): void {
  const arms = everyArm();
  const rows = arms.map(({ traits, requires }) => {
    const { name, summary, retrieves, injects, equivalence, control, comparison, deployable = true } = traits;
    return { name, summary, requires, retrieves, injects, equivalence, control, comparison, deployable };
  });
  printResult(json, rows, () => listLines(arms.map((arm) => [arm.traits.name, armSummary(arm)])));
}

function listSuites({ json }: JsonFlag): void {
  const rows = Object.values(suites).map(({ name, question, arms }) => ({ name, question, arms }));
  printResult(json, rows, () => listLines(rows.map(({ name, question }) => [name, question])));
}

function listMetrics({ json }: JsonFlag): void {
  const metrics = builtInMetrics.map((metric) => metricDeclaration.parse(metric));
  printResultTables(json, metrics, [metricsTable(metrics)]);
}

function listRuns({ json, out, db }: JsonFlag & Partial<Record<'out' | 'db', string>>): void {
  using database = openStoredRuns(loadBenchConfig({ flags: { out, db } }).db, { readOnly: true });
  const entries = new RunRepository(database).listEntries();
  printResultTables(json, entries, [runsTable(entries)]);
}
