import type { BenchConfig } from '../config/bench-config.ts';
import type { BenchHooks } from '../eval/run/bench-hooks.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { selectEngine } from './select-engine.ts';
import { startWorker } from './start-worker.ts';

/**
 * Runs the suites of a configuration and returns their results in order.
 *
 * @example
 * import { loadBenchConfig, runBench } from 'dki-bench';
 * const [results] = await runBench(loadBenchConfig({ flags: { limit: '24' } }));
 * console.log(results?.arms.map(({ arm, metrics }) => [arm, metrics.exactMatch?.mean]));
 *
 * @throws BenchError on bad options, data or models; the reason of `signal` if it aborts a run
 */
export async function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults[]> {
  // Imported late, since it is most of the program, and a wrong option should be reported fast.
  const { runSuites } = await import('../eval/run-suites.ts');
  const { engine } = hooks;
  // An engine that the caller passes exists in this process only, so that workers cannot use it.
  return engine === undefined
    ? await runSuites(config, selectEngine, hooks, startWorker)
    : await runSuites(config, () => engine, hooks);
}
