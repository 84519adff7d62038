import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { busyMachineNote, machineUse } from '../bench/busy-machine.ts';
import { runBench } from '../bench/run-bench.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { postgresAddress, redisAddress } from '../config/normalise-server-addresses.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { configOptions, flagName } from '../config/flags-from-schema.ts';
import { builtInMetrics } from '../eval/analysis/metrics/built-in-metrics.ts';
import { machineOptions } from '../eval/run/plan/option-resume-rules.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { printableJson } from '../render/escape-control-characters.ts';
import { storedOutcomes } from '../report/turn-outcomes-file.ts';
import { missedThreshold, type QualityThreshold, parseQualityThreshold } from '../report/quality-threshold.ts';
import { writeReport } from '../report/report-files.ts';
import { renderAnswer, renderSummary } from '../report/terminal-summary.ts';
import { baselineArm, primaryArm } from '../report/find-arms-and-comparisons.ts';
import { openDatabase } from '../store/database.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { groupName } from '../store/run-names.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { armHelp } from './arm-help.ts';
import { withInterrupt } from './with-interrupt.ts';
import { addConfigOptions, type Flags, withExamples } from './options.ts';
import { displayPath, printLines, terminalPage, suggestNextCommand } from './output.ts';
import { ProgressDisplay } from './progress.ts';

export function declare(command: Command): void {
  command.description('run suites, check their results, and print the tables');
  const keys = configOptions().flatMap(({ key }) => (key === 'queue' ? [] : [key]));
  addConfigOptions(command, keys)
    .addHelpText('after', () => armHelp())
    .action(bench);
  withExamples(command, {
    'bench --limit 50 --seed 7': 'about 50 questions; whole users are drawn by the seed',
    'bench --model smollm2-135m --dataset facts-en --limit 60': 'a model that people use, on natural questions',
    'bench --dataset ./mine.jsonl --arms rag,rag-cached,dki': 'data of your own, some of the arms',
  });
}

const suitesWithLengths: readonly string[] = ['length', 'reuse'];

interface BenchState {
  /** Name of the run that began last, or that is resumed. */
  runName: string | undefined;
  /** All turns are stored, and the results printed. */
  finished: boolean;
}

async function bench(flags: Flags): Promise<void> {
  const config = loadBenchConfig({ flags, arms: armRegistry });
  requireUsedLengths(config);
  const thresholds = qualityThresholds(config);
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const state: BenchState = { runName: config.resume, finished: false };
  const code = await withInterrupt((signal) => runAndReport(config, thresholds, { state, display, signal }), {
    onInterrupt: () => display?.note('stopping; press ^C again to stop at once'),
    onCutShort: () => {
      display?.[Symbol.dispose]();
      process.stderr.write(`interrupted; ${continueLine(config, state)}\n`);
    },
  });
  if (code !== undefined) process.exitCode = code;
}

type Running = Readonly<{ state: BenchState; display: ProgressDisplay | undefined; signal: AbortSignal }>;

async function runAndReport(
  config: BenchConfig,
  thresholds: readonly QualityThreshold[],
  { state, display, signal }: Running,
): Promise<number> {
  const busy = busyMachineNote(machineUse());
  if (busy !== null) display?.note(busy);
  const runs = await runBench(config, {
    signal,
    notes: busy === null ? [] : [busy],
    onBegin: (run) => (state.runName = run),
    ...display?.hooks,
  });
  display?.[Symbol.dispose]();
  printResults(runs, config);
  state.finished = true;
  // The results are printed before the reports are written, which may fail.
  for (const results of runs) {
    await unlessInterrupted(signal);
    display?.note(`writing the report of ${results.run.name}`);
    const closing = await writeRunReport(config, results);
    closing.write(inspectLine(config, results));
  }
  if (runs.length > 1) {
    await unlessInterrupted(signal);
    const folder = join(config.out, groupName(runs[0]!.run.name));
    await writeReport(folder, runs);
    const page = displayPath(join(folder, 'report.html'));
    printLines(['', `all suites: ${page}`], config.json ? process.stderr : undefined);
  }
  const missed = runs.flatMap((results) =>
    thresholds.flatMap((threshold) => missedThreshold(results, threshold) ?? []),
  );
  printLines(missed, process.stderr);
  return exitCode(runs, missed);
}

/** @param missed thresholds of `--fail-below` that were not reached */
export function exitCode(runs: readonly Pick<RunResults, 'checks'>[], missed: readonly string[] = []): number {
  if (runs.some(({ checks }) => checks.some(({ status }) => status === 'failed'))) return exitCodes.checkFailed;
  return missed.length > 0 ? exitCodes.belowBar : exitCodes.ok;
}

export function printResults(
  runs: readonly RunResults[],
  { json, verbose }: Pick<BenchConfig, 'json' | 'verbose'>,
): void {
  const render = verbose ? renderSummary : renderAnswer;
  if (json) process.stdout.write(printableJson(runs.length === 1 ? runs[0] : { runs }));
  else process.stdout.write(runs.map((results) => render(results, terminalPage())).join('\n\n'));
}

/** Writes the report of one run and prints its path. @returns the stream for more lines about the report */
export async function writeRunReport(
  { db, out, json }: Pick<BenchConfig, 'db' | 'out' | 'json'>,
  results: RunResults,
): Promise<NodeJS.WriteStream> {
  const folder = join(out, results.run.name);
  using database = openDatabase({ path: db });
  await writeReport(folder, [results], storedOutcomes(database, results.run.id));
  const closing = json ? process.stderr : process.stdout;
  printLines(['', `report: ${displayPath(join(folder, 'report.html'))}; all tables here: --verbose`], closing);
  return closing;
}

/** @throws BenchError `bad-option` for lengths of memories that no suite of the run measures; a resumed run keeps its own */
function requireUsedLengths({ given, suite, resume }: BenchConfig): void {
  if (!given.includes('lengths') || resume !== undefined || suite.some((name) => suitesWithLengths.includes(name)))
    return;
  const message = `${flagName('lengths')}: has no effect in this run`;
  throw new BenchError('bad-option', message, `add --suite ${suitesWithLengths.join(' or ')}, or drop it`);
}

/** The thresholds of `--fail-below`. @throws BenchError `bad-option` before anything runs */
function qualityThresholds({ failBelow = [], arms, suite }: BenchConfig): QualityThreshold[] {
  const known = {
    arms: arms ?? suitesNamed(suite).flatMap((one) => one.arms),
    metrics: builtInMetrics.map(({ name }) => name),
  };
  return failBelow.map((text) => parseQualityThreshold(text, known));
}

/** Gives the event loop a chance to handle a pending ^C. @throws the reason of `signal` if it is aborted */
async function unlessInterrupted(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}

/** False for a store's address with a user, a password or a query. */
function isPrinted(key: (typeof machineOptions)[number], value: string): boolean {
  if (key === 'hot') return redisAddress(value) === value;
  return key !== 'cold' || postgresAddress(value) === value;
}

function machineFlags(config: BenchConfig): string[] {
  const given = machineOptions.filter((key) => config.given.includes(key) && isPrinted(key, String(config[key])));
  return [
    ...given.flatMap((key) => [flagName(key), String(config[key])]),
    ...(config.allowRemote ? ['--allow-remote'] : []),
  ];
}

function continueLine(config: BenchConfig, { runName, finished }: BenchState): string {
  if (runName === undefined) return 'no question was asked yet';
  const name = groupName(runName);
  return finished
    ? `all turns are stored; write the report with: ${suggestNextCommand('tables', config, ['--run', name, '--write'])}`
    : `continue with: ${suggestNextCommand('bench', config, [...machineFlags(config), '--resume', name])}`;
}

/** Suggests the command that shows a wrong turn of the primary arm beside the baseline, or of the first arm; empty without turns. */
function inspectLine(config: BenchConfig, { run, arms }: RunResults): string {
  const [primary, baseline] = [primaryArm(arms)?.arm, baselineArm(arms)?.arm];
  const arm = primary ?? arms[0]?.arm;
  if (arm === undefined) return '';
  const itemId = firstWrongItem(config, run.id, arm);
  if (itemId === undefined) return '';
  const shown = primary !== undefined && baseline !== undefined ? `${baseline},${primary}` : arm;
  const words = ['--run', run.name, '--item', itemId, '--arm', shown, '--print'];
  return `inspect a turn: ${suggestNextCommand('inspect', config, words)}\n`;
}

/** The item of an arm's first wrong turn, or of its first turn if none is wrong; undefined without turns. */
function firstWrongItem({ db }: BenchConfig, runId: string, arm: string): string | undefined {
  using database = openDatabase({ path: db });
  let first: string | undefined;
  for (const turn of new TurnRepository(database).listForResults(runId, { arm })) {
    first ??= turn.itemId;
    if (turn.state === 'failed' || turn.scores.taskSuccess !== 1) return turn.itemId;
  }
  return first;
}
