/**
 * Turns a minute of one worker and of several, of one thread each: `npm run bench:workers -- --workers 2 --model smollm2-135m`.
 * The same users are asked by each, as many as `--users` says: with few, the turns of the last one, when others have none left, weigh much.
 * One worker is measured before several and after them, so that a machine that grows slower slows both alike. Each run ends at its last turn;
 * loading and self-tests are not counted. Before that, what as many engines gain without a bench: `--bare` measures that alone. It prints,
 * and never fails on a clock.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBench } from '../src/cli/compose.ts';
import { loadBenchConfig } from '../src/config/load-config.ts';
import { runScript, wholeNumber } from './run-script.ts';
import { barePace } from './workers/bare-engines.ts';

interface Pace {
  readonly turns: number;
  readonly minutes: number;
}

/** The pace of a run from its first turn that is seen to its last one, at which it is ended. */
async function paceOf(flags: Readonly<Record<string, string>>): Promise<Pace> {
  const seen: { readonly done: number; readonly ms: number }[] = [];
  const ending = new AbortController();
  const run = runBench(loadBenchConfig({ flags }), {
    onProgress: ({ phase, done, total }) => {
      if (phase !== 'turns') return;
      seen.push({ done, ms: performance.now() });
      if (done === total) ending.abort();
    },
    signal: ending.signal,
  });
  await run.catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  const [first, last] = [seen[0]!, seen.at(-1)!];
  return { turns: last.done - first.done, minutes: (last.ms - first.ms) / 60_000 };
}

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
    const sums = new Map<number, Pace>();
    for (const [order, count] of [1, workers, workers, 1].entries()) {
      const flags = { ...options, threads: '1', workers: String(count), out: join(folder, String(order)) };
      const { turns, minutes } = await paceOf(flags);
      const before = sums.get(count) ?? { turns: 0, minutes: 0 };
      sums.set(count, { turns: before.turns + turns, minutes: before.minutes + minutes });
      console.log(`${count} of one thread: ${(turns / minutes).toFixed(1)} turns a minute, over ${turns} turns`);
    }
    const [one, several] = [1, workers].map((count) => sums.get(count)!.turns / sums.get(count)!.minutes);
    console.log(`ratio: ${(several! / one!).toFixed(2)}`);
    const [load = 0] = loadavg();
    console.log(`${availableParallelism()} cores, load ${load.toFixed(1)} at the end`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
