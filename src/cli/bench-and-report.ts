import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { BenchConfig } from '../config/bench-config.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { openDatabase } from '../store/database.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { RunResults } from '../store/records/results.ts';
import { groupOf } from '../store/run-name.ts';
import { builtInMetrics } from '../eval/analysis/metrics/metrics.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { missedBar, type QualityBar, qualityBar } from '../report/quality-bar.ts';
import { storedOutcomes } from '../report/outcomes.ts';
import { printable, printableJson } from '../render/printable.ts';
import { writeReport } from '../report/report-files.ts';
import { renderSummary } from '../report/summary.ts';
import { baselineArm, primaryArm } from '../report/compared-arms.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { commandLine, shownPath } from './command-line.ts';
import { runBench } from '../bench/compose.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { interruptible } from './interruption.ts';
import { pageOf } from './page.ts';
import { estimateLine, ProgressDisplay } from './progress.ts';

/** Runs the suites that the flags name, prints their results, writes their reports, and gives the exit code. */
export async function benchAndReport(flags: Readonly<Record<string, unknown>>): Promise<number> {
  const config = loadBenchConfig({ flags, arms: armRegistry });
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const controller = new AbortController();
  const { signal } = controller;
  const bars = qualityBarsOf(config);
  const state: BenchState = { begun: config.resume, finished: false };
  const onOverdue = () => {
    display?.[Symbol.dispose]();
    process.stderr.write(`interrupted; ${goOnLine(config, state)}\n`);
  };
  const onInterrupt = () => display?.note('stopping; press ^C again to stop at once');
  try {
    const work = () => runAndReport(config, bars, state, display, signal);
    return await interruptible(controller, work, onInterrupt, exitCodes.interrupted, onOverdue);
  } catch (error) {
    if (!signal.aborted) throw error;
    onOverdue();
    return exitCodes.interrupted;
  }
}

/** How far a bench has come, for whoever ends it. */
interface BenchState {
  /** Name of the run that was begun last, or is gone on with. */
  begun: string | undefined;
  /** All turns are stored, and the results printed. */
  finished: boolean;
}

/** Runs the suites, prints their results, and writes their reports. @throws the reason of an aborted signal */
async function runAndReport(
  config: BenchConfig,
  bars: readonly QualityBar[],
  state: BenchState,
  display: ProgressDisplay | undefined,
  signal: AbortSignal,
): Promise<number> {
  const runs = await runBench(config, {
    signal,
    onBegin: (run) => (state.begun = run),
    ...(display === undefined
      ? {}
      : {
          onProgress: display.show,
          onDownload: display.showDownload,
          onNote: display.note,
          onEstimate: (estimate) => display.note(estimateLine(estimate)),
        }),
  });
  display?.[Symbol.dispose]();
  if (config.json) process.stdout.write(printableJson(runs.length === 1 ? runs[0] : { runs }));
  else process.stdout.write(runs.map((results) => renderSummary(results, pageOf(process.stdout))).join('\n\n'));
  state.finished = true;
  const closing = config.json ? process.stderr : process.stdout;
  // The results are printed before the report is written, which may fail.
  for (const results of runs) {
    await unlessInterrupted(signal);
    const folder = join(config.out, results.run.name);
    await writeReport(folder, [results], outcomesOfReport(config, results));
    closing.write(`\nreport: ${printable(shownPath(folder))}\n${inspectLine(config, results)}`);
  }
  if (runs.length > 1) {
    await unlessInterrupted(signal);
    const folder = join(config.out, groupOf(runs[0]!.run.name));
    await writeReport(folder, runs);
    closing.write(`\nall suites: ${printable(shownPath(join(folder, 'report.html')))}\n`);
  }
  const failed = runs.some(({ checks }) => checks.some(({ status }) => status === 'failed'));
  const missed = runs.flatMap((results) => bars.flatMap((bar) => missedBar(results, bar) ?? []));
  for (const line of missed) process.stderr.write(`${printable(line)}\n`);
  if (failed) return exitCodes.checkFailed;
  return missed.length > 0 ? exitCodes.belowBar : exitCodes.ok;
}

/** The outcomes of the turns that a run has stored. */
function outcomesOfReport({ db }: BenchConfig, { run }: RunResults): string {
  using database = openDatabase({ path: db });
  return storedOutcomes(database, run.id);
}

/** The bars of `--fail-below`. @throws BenchError `bad-option` before anything runs */
function qualityBarsOf({ failBelow = [], arms, suite }: BenchConfig): QualityBar[] {
  const known = {
    arms: arms ?? suitesNamed(suite).flatMap((one) => one.arms),
    metrics: builtInMetrics.map(({ name }) => name),
  };
  return failBelow.map((text) => qualityBar(text, known));
}

/** Lets a signal that came be heard. @throws its reason */
async function unlessInterrupted(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}

/** The command that goes on from where a bench was ended. */
function goOnLine(config: BenchConfig, { begun, finished }: BenchState): string {
  if (begun === undefined) return 'nothing had been asked yet';
  const name = groupOf(begun);
  return finished
    ? `all turns are stored; write the report with: ${commandLine('tables', config, ['--run', name, '--write'])}`
    : `continue with: ${commandLine('bench', config, ['--resume', name])}`;
}

/** The command that shows a turn: the first wrong one of the primary arm, or of the first arm, beside the baseline; empty without arms. */
function inspectLine(config: BenchConfig, { run, arms }: RunResults): string {
  const [primary, baseline] = [primaryArm(arms)?.arm, baselineArm(arms)?.arm];
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
