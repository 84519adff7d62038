/**
 * Compares one worker with several, of one thread each: `npm run perf -- workers --workers 2 --model smollm2-135m`. Both answer the same
 * users; with few (`--users`), the turns of the last user, during which other workers idle, weigh much. The two runs alternate every
 * few seconds, so that a slowing machine slows down both; loading and self-tests are not counted. Bare engines are compared first,
 * which is the upper limit.
 */
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { readOptions, runScript, ScratchFolder, wholeNumber } from '../run-script.ts';
import { PacedRun } from './workers/paced-run.ts';

/** The run of one worker continues for this long, then that of several for the same worker time. */
const WINDOW_MS = 20_000;
const BARE_WINDOWS = 4;
const BARE_WINDOW_MS = 10_000;

/** Rounds per minute of one engine without a bench, and of several at once, which take turns. */
async function comparePaces(choice: unknown, processes: number): Promise<{ alone: number; together: number }> {
  const program = new URL('./workers/bare-engine.ts', import.meta.url);
  const begin = (): Promise<PacedRun> => PacedRun.begin(program, choice);
  const runs = await Promise.all(Array.from({ length: 1 + processes }, begin));
  const [alone, ...together] = runs as [PacedRun, ...PacedRun[]];
  for (let window = 0; window < BARE_WINDOWS; window++) {
    await alone.continue(BARE_WINDOW_MS);
    await Promise.all(together.map((run) => run.continue(BARE_WINDOW_MS)));
  }
  for (const run of runs) run[Symbol.dispose]();
  return { alone: alone.perMinute, together: together.reduce((sum, { perMinute }) => sum + perMinute, 0) };
}

// A stopped run would outlive this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await runScript(async () => {
  const defaults = { workers: '2', model: 'recall-base', limit: '24' };
  const { 'context-tokens': contextTokens, ...others } = readOptions(defaults, ['users', 'context-tokens']);
  const workers = wholeNumber('workers', others.workers, 2);
  const options = { ...others, ...(contextTokens === undefined ? {} : { contextTokens }) };
  const { model, contextTokens: window } = loadBenchConfig({ flags: options });
  const { alone, together } = await comparePaces({ model, contextTokens: window }, workers);
  console.log(
    `bare engines: ${alone.toFixed(1)} rounds per minute alone, ${together.toFixed(1)} with ${workers} at once:` +
      ` ${(together / alone).toFixed(2)} times, the upper limit for workers`,
  );
  using folder = new ScratchFolder('workers');
  const begin = (of: number): Promise<PacedRun> =>
    PacedRun.begin(new URL('./workers/bench-run.ts', import.meta.url), {
      ...options,
      threads: '1',
      workers: String(of),
      out: join(folder.path, String(of)),
    });
  using one = await begin(1);
  using several = await begin(workers);
  while (!one.isOver || !several.isOver) {
    if (!one.isOver) await one.continue(WINDOW_MS);
    if (!several.isOver) await several.continue(WINDOW_MS / workers);
  }
  console.log(`1 worker: ${one.perMinute.toFixed(1)} turns per minute, over ${one.turns} turns`);
  console.log(`${workers} workers: ${several.perMinute.toFixed(1)} turns per minute, over ${several.turns} turns`);
  console.log(`ratio: ${(several.perMinute / one.perMinute).toFixed(2)}`);
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)} at the end`);
});
