/**
 * Turns a minute of one worker and of several, of one thread each: `npm run perf -- workers --workers 2 --model smollm2-135m`.
 * The same users are asked by each, as many as `--users` says: with few, the turns of the last one, when others have none left, weigh much.
 * The two runs go on in turns, some seconds each, so that a machine that grows slower slows both alike, and are ended at their last turn;
 * loading and self-tests are not counted. Before that, what as many engines gain without a bench: `--bare` measures that alone. It prints,
 * and never fails on a clock.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { runScript, wholeNumber } from '../run-script.ts';
import { barePace } from './workers/bare-engines.ts';
import { type Flags, PacedRun } from './workers/paced-run.ts';

/** The run of one worker goes on for so long, then that of several until it had as much. */
const WINDOW_MS = 20_000;

// A run that stands still would not end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      workers: { type: 'string', default: '2' },
      model: { type: 'string', default: 'recall-base' },
      limit: { type: 'string', default: '24' },
      users: { type: 'string' },
      'context-tokens': { type: 'string' },
      bare: { type: 'boolean', default: false },
    },
  });
  const workers = wholeNumber('workers', values.workers, 2);
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-workers-'));
  const contextTokens = values['context-tokens'];
  const options = {
    model: values.model,
    limit: values.limit,
    ...(values.users === undefined ? {} : { users: values.users }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
  try {
    // Refuses what a run would refuse.
    const { model, contextTokens: window } = loadBenchConfig({ flags: options });
    const bare = { model, ...(window === undefined ? {} : { contextTokens: window }) };
    const { alone, together } = await barePace(bare, workers);
    console.log(
      `engines alone: ${alone.toFixed(1)} rounds a minute of one, ${together.toFixed(1)} of ${workers} at once:` +
        ` ${(together / alone).toFixed(2)} times, which workers cannot exceed by much`,
    );
    if (values.bare) return;
    const flagsOf = (count: number): Flags => ({
      ...options,
      ...{ threads: '1', workers: String(count), out: join(folder, String(count)) },
    });
    using one = await PacedRun.begin(flagsOf(1));
    using several = await PacedRun.begin(flagsOf(workers));
    while (!one.isOver || !several.isOver) {
      if (!one.isOver) await one.goOn(WINDOW_MS);
      if (!several.isOver) await several.goOn(WINDOW_MS / workers);
    }
    for (const [count, { turns, perMinute }] of [
      [1, one],
      [workers, several],
    ] as const) {
      console.log(`${count} of one thread: ${perMinute.toFixed(1)} turns a minute, over ${turns} turns`);
    }
    console.log(`ratio: ${(several.perMinute / one.perMinute).toFixed(2)}`);
    const [load = 0] = loadavg();
    console.log(`${availableParallelism()} cores, load ${load.toFixed(1)} at the end`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
