import { availableParallelism } from 'node:os';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { additionalMetrics } from '../../analysis/metrics/metric-selection.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import type { Suite } from '../suite.ts';

const MAX_AUTO = 4;

/** Resolves `--workers`, left out if one process takes all turns. @throws BenchError `bad-option` if several cannot be used */
export function withWorkers(
  { workers, ...options }: BenchConfig,
  suite: Pick<Suite, 'timesAreResults' | 'arms'>,
  parts: Pick<BenchHooks, 'arms' | 'retriever'> & { readonly canStart: boolean },
): BenchConfig {
  const hasTurns = (options.arms ?? suite.arms).length > 0;
  if (workers === undefined || workers === 1 || suite.timesAreResults === true || !hasTurns) return options;
  const obstacle = obstacleToWorkers(options, parts);
  if (workers === 'auto') {
    const count = obstacle === undefined ? Math.min(MAX_AUTO, availableParallelism()) : 1;
    return count === 1 ? options : { ...options, workers: count };
  }
  if (obstacle === undefined) return { ...options, workers };
  const message = `--workers ${workers}: ${obstacle}`;
  throw new BenchError('bad-option', message, 'leave it out: one process takes all turns then');
}

/** Limits workers to one per user: idle workers would take cores from the others. */
export function withoutIdleWorkers(options: BenchConfig, users: number): BenchConfig {
  const { workers, ...others } = options;
  if (typeof workers !== 'number' || workers <= users) return options;
  return users > 1 ? { ...others, workers: users } : others;
}

/** The reason why one process must take all turns; undefined where several can. */
function obstacleToWorkers(
  config: Omit<BenchConfig, 'workers'>,
  { arms = [], retriever, canStart }: Parameters<typeof withWorkers>[2],
): string | undefined {
  if (!canStart) return 'this program starts no workers';
  if (config.kvStore !== undefined) {
    return 'users share the KV store (--kv-store): what a turn finds there would depend on which worker was faster';
  }
  if (config.engineUrl !== undefined || config.llamaServer !== undefined) {
    return 'a model server has one cache and one set of counters for all workers';
  }
  if (retriever !== undefined) return 'a retriever of the calling program exists only in its process';
  if (arms.length > 0) return 'arms of the calling program exist only in its process';
  return additionalMetrics(config).length > 0 ? 'metrics of the calling program exist only in its process' : undefined;
}
