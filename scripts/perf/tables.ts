/**
 * Measures time and memory of the tables of a long run: `npm run perf -- tables`. The turns of a small run are copied until there are
 * enough, and a separate process draws the tables.
 *
 *   npm run perf -- tables --turns 100000
 *   npm run perf -- tables --turns 1000000 --out build/tables    reuses the runs in this folder, or makes them: 20 GB
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { resultsOfRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { renderers } from '../../src/report/report-files.ts';
import { shownTables } from '../../src/report/report-contents.ts';
import { openDatabase } from '../../src/store/database.ts';
import { npmScript, readOptions, runScript, ScratchFolder, wholeNumber } from '../run-script.ts';
import { longRunNames, makeLongRuns } from './runs/long-run.ts';

/** Draws the tables of a long run in this process, and says what that took. */
function drawTables(path: string): string {
  const start = performance.now();
  using database = openDatabase({ path });
  const runs = resultsOfRuns(database, longRunNames[0]);
  runs.flatMap(shownTables).map(renderers.md);
  const turns = runs.flatMap(({ arms }) => arms).reduce((sum, { n }) => sum + n, 0);
  const seconds = (performance.now() - start) / 1000;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuSeconds = ((userCPUTime + systemCPUTime) / 1e6).toFixed(1);
  const megabytes = ((maxRSS * 1024) / 1e6).toFixed(0);
  return `tables of ${turns} turns: ${seconds.toFixed(1)} s, CPU time ${cpuSeconds} s, peak resident memory ${megabytes} MB`;
}

await runScript(async () => {
  const values = readOptions({ turns: '100000' }, ['out', 'draw']);
  if (values.draw !== undefined) {
    console.log(drawTables(values.draw));
    return;
  }
  const turns = wholeNumber('turns', values.turns, 1);
  using scratch = new ScratchFolder('tables');
  const path = await makeLongRuns(values.out ?? scratch.path, turns);
  const nodeOptions = npmScript('tables').filter((word) => word.startsWith('--'));
  const execArgv = [...process.execArgv, ...nodeOptions];
  const drawing = fork(fileURLToPath(import.meta.url), ['--draw', path], { execArgv });
  const [code] = (await once(drawing, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = 1;
});
