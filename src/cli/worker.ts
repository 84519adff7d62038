import type { Command } from 'commander';
import { engineNames } from '../bench/compose.ts';
import { addConfigOptions } from './config-options.ts';

/** Options of a worker: where things are on its machine; all else is the plan's. */
const keys = [
  ...(['queue', 'run', 'dataset', 'dataFile', 'errata', 'model', 'embedder', 'preRetrieval'] as const),
  ...(['engineUrl', 'allowRemote', 'slotsFolder', 'llamaServer', 'hot', 'cold', 'out', 'quiet'] as const),
];

/** Declares `worker`; what takes turns is loaded when its options were understood. */
export function declareWorker(command: Command): void {
  command.description('take users of a planned run from a queue, until none is left');
  addConfigOptions(command, keys, { engine: engineNames }).action(async (flags: Readonly<Record<string, string>>) => {
    const { workAndReport } = await import('./work-and-report.ts');
    process.exitCode = await workAndReport(flags);
  });
}
