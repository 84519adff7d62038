/**
 * Turns a minute of one worker and of several, of one thread each: `npm run bench:workers -- --workers 2 --model smollm2-135m`.
 * The same users are asked by each, as many as `--users` says: with few, the turns of the last one, when others have none left, weigh much.
 * Loading, self-tests and probes are not counted. Before that, what as many engines gain
 * without a bench: `--bare` measures that alone. It prints, and never fails on a clock.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBench } from '../src/cli/compose.ts';
import { loadBenchConfig } from '../src/config/load-config.ts';
import { runScript, wholeNumber } from './run-script.ts';
import { bareRoundsAMinute } from './workers/bare-engines.ts';

interface Pace {
  readonly turns: number;
  readonly perMinute: number;
}

/** The pace of a run from its first turn that is seen to its last one. */
async function paceOf(flags: Readonly<Record<string, string>>): Promise<Pace> {
  const seen: { readonly done: number; readonly ms: number }[] = [];
  await runBench(loadBenchConfig({ flags }), {
    onProgress: ({ phase, done }) => {
      if (phase === 'turns') seen.push({ done, ms: performance.now() });
    },
  });
  const [first, last] = [seen[0]!, seen.at(-1)!];
  const turns = last.done - first.done;
  return { turns, perMinute: (60_000 * turns) / (last.ms - first.ms) };
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
    const [alone, together] = [await bareRoundsAMinute(bare, 1), await bareRoundsAMinute(bare, workers)];
    console.log(
      `engines alone: ${alone.toFixed(1)} rounds a minute of one, ${together.toFixed(1)} of ${workers} at once:` +
        ` ${(together / alone).toFixed(2)} times, which workers cannot exceed by much`,
    );
    if (values.bare) return;
    const paces: Pace[] = [];
    for (const count of [1, workers]) {
      const flags = { ...options, threads: '1', workers: String(count), out: join(folder, String(count)) };
      const pace = await paceOf(flags);
      paces.push(pace);
      console.log(`${count} of one thread: ${pace.perMinute.toFixed(1)} turns a minute, over ${pace.turns} turns`);
    }
    const [one, several] = paces;
    const [load = 0] = loadavg();
    console.log(`ratio: ${(several!.perMinute / one!.perMinute).toFixed(2)}`);
    console.log(`${availableParallelism()} cores, load ${load.toFixed(1)} at the end`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
