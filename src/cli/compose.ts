import type { BenchConfig } from '../config/bench-config.ts';
import { adapterNamed, adapters } from '../engine/adapters.ts';
import type { EngineOpener } from '../engine/engine-request.ts';
import { runSuites } from '../eval/bench-run.ts';
import type { BenchHooks } from '../eval/run/progress.ts';
import type { RunResults } from '../records/results.ts';

export { adapterNamed, adapters };

/** Names of the engines that there are. */
export const engineNames = adapters.map(({ name }) => name);

/**
 * Chooses the engine: the one place that does.
 * @throws BenchError `bad-option` for a name that no adapter has, and for options that it does not know
 */
export function composeEngine({ engine }: Pick<BenchConfig, 'engine'> = { engine: engineNames[0]! }): EngineOpener {
  const adapter = adapterNamed(engine);
  return adapter.opener(adapter.options.parse({}));
}

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
export function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults[]> {
  return runSuites(config, composeEngine(config), hooks);
}
