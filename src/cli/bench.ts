import { join } from 'node:path';
import type { Command } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { openDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import type { RunResults } from '../records/results.ts';
import { groupOf } from '../db/run-name.ts';
import { printableJson } from '../report/render/printable.ts';
import { writeReport } from '../report/report-files.ts';
import { renderSummary } from '../report/summary.ts';
import { baselineOf, primaryOf } from '../report/verdict.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { armHelp } from './arm-help.ts';
import { commandLine, shownPath } from './command-line.ts';
import { engineNames, runBench } from './compose.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { interruptible } from './interruption.ts';
import { pageOf } from './page.ts';
import { ProgressDisplay } from './progress.ts';

/** Declares `bench`. */
export function declareBench(command: Command): void {
  command.description('run suites, check their results, and print the tables');
  addConfigOptions(command, undefined, { engine: engineNames })
    .addHelpText('after', () => armHelp())
    .action(async (flags: Readonly<Record<string, unknown>>) => {
      process.exitCode = await bench(loadBenchConfig({ flags, arms: armRegistry }));
    });
}

async function bench(config: BenchConfig): Promise<number> {
  const runs = await run(config);
  if (runs === undefined) {
    process.stderr.write(`interrupted; ${resumeLine(config)}\n`);
    return exitCodes.interrupted;
  }
  if (config.json) process.stdout.write(printableJson(runs.length === 1 ? runs[0] : { runs }));
  else process.stdout.write(runs.map((results) => renderSummary(results, pageOf(process.stdout))).join('\n\n'));
  const closing = config.json ? process.stderr : process.stdout;
  // The results are printed before the report is written, which may fail.
  for (const results of runs) {
    const folder = join(config.out, results.run.name);
    await writeReport(folder, [results]);
    closing.write(`\nreport: ${shownPath(folder)}\n${inspectLine(config, results)}`);
  }
  if (runs.length > 1) {
    const folder = join(config.out, groupOf(runs[0]!.run.name));
    await writeReport(folder, runs);
    closing.write(`\nall suites: ${shownPath(join(folder, 'report.html'))}\n`);
  }
  const failed = runs.some(({ checks }) => checks.some(({ status }) => status === 'failed'));
  return failed ? exitCodes.checkFailed : exitCodes.ok;
}

/** The results of each suite, or undefined if the user ended the run. */
async function run(config: BenchConfig): Promise<RunResults[] | undefined> {
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const interruption = new AbortController();
  const onInterrupt = () => display?.note('stopping after this turn; press ^C again to stop at once');
  try {
    const { signal } = interruption;
    const hooks = {
      signal,
      ...(display === undefined ? {} : { onProgress: display.show, onDownload: display.showDownload }),
    };
    return await interruptible(interruption, () => runBench(config, hooks), onInterrupt, exitCodes.interrupted);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return undefined;
  }
}

function resumeLine(config: BenchConfig): string {
  using database = openDatabase({ path: config.db });
  const last = new RunRepository(database).list().findLast(({ status }) => status === 'interrupted');
  return last === undefined
    ? 'nothing had been asked yet'
    : `continue with: ${commandLine('bench', config, ['--resume', groupOf(last.name)])}`;
}

/** The command that shows a turn: the first wrong one of the primary arm, or of the first arm, beside the baseline; empty without arms. */
function inspectLine(config: BenchConfig, { run, arms }: RunResults): string {
  const [primary, baseline] = [primaryOf(arms)?.arm, baselineOf(arms)?.arm];
  const arm = primary ?? arms[0]?.arm;
  if (arm === undefined) return '';
  using database = openDatabase({ path: config.db });
  let itemId: string | undefined;
  for (const turn of new TurnRepository(database).listForResults(run.id, { arm })) {
    itemId ??= turn.itemId;
    if (turn.state === 'answered' && turn.scores.taskSuccess === 1) continue;
    itemId = turn.itemId;
    break;
  }
  if (itemId === undefined) return '';
  const shown = primary !== undefined && baseline !== undefined ? `${baseline},${primary}` : arm;
  const words = ['--run', run.name, '--item', itemId, '--arm', shown, '--print'];
  return `inspect a turn: ${commandLine('inspect', config, words)}\n`;
}
