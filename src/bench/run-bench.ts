import type { BenchConfig } from '../config/bench-config.ts';
import type { BenchHooks } from '../eval/run/bench-hooks.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { composeEngine } from './compose-engine.ts';
import { startWorker } from './start-worker.ts';

/**
 * Runs the suites that a configuration names and gives their results in order.
 *
 * @example
 * import { loadBenchConfig, runBench } from 'dki-bench';
 * const [results] = await runBench(loadBenchConfig({ flags: { limit: '24' } }));
 * console.log(results?.arms.map(({ arm, metrics }) => [arm, metrics.exactMatch?.mean]));
 *
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends a run
 */
export async function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults[]> {
  // Loaded when a run begins: it is most of the program, and an option that is refused does not need it.
  const { runSuites } = await import('../eval/run-suites.ts');
  const { engine } = hooks;
  // An engine of the calling program is in its process alone.
  return engine === undefined
    ? await runSuites(config, composeEngine, hooks, startWorker)
    : await runSuites(config, () => engine, hooks);
}
