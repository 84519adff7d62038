import type { Command } from 'commander';
import { loadBenchConfig } from '../config/load-config.ts';
import { QueueReader } from '../db/queue/queue-reader.ts';
import { QueueStore } from '../db/queue/queue-store.ts';
import { printable, printableJson } from '../report/render/printable.ts';
import { addConfigOptions } from './config-options.ts';
import { openQueue } from './queue-runs.ts';
import { statusLines, type RunStatus } from './status-text.ts';

const FAILURES_AT_MOST = 10;

interface StatusFlags {
  readonly queue?: string;
  readonly run?: string;
  readonly json?: true;
}

/** Declares `status`. */
export function declareStatus(command: Command): void {
  command.description('show the runs of a queue: progress, workers, failures');
  addConfigOptions(command, ['queue', 'run', 'json']).action(status);
}

async function status({ queue, run, json }: StatusFlags): Promise<void> {
  const config = loadBenchConfig({ flags: { queue, run, json } });
  await using connection = openQueue(config);
  const reader = new QueueReader(connection);
  const names = run === undefined ? await reader.names() : [run];
  const runs: RunStatus[] = [];
  for (const name of names) {
    const planned = await reader.find(name);
    const store = await QueueStore.open(connection, { creates: false });
    runs.push({
      progress: await reader.progress(planned, await store.open(planned.id)),
      workers: (await reader.workers(planned)).map(({ environment, probes: _, ...worker }) => {
        const { cpu, cores, platform, threads } = environment;
        return { ...worker, cpu, cores, platform, threads };
      }),
      failures: await reader.failures(planned, FAILURES_AT_MOST),
    });
  }
  if (config.json) process.stdout.write(printableJson({ queue: connection.address, runs }));
  else
    process.stdout.write(
      statusLines(connection.address, runs)
        .map((line) => `${printable(line)}\n`)
        .join(''),
    );
}
