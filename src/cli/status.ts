import type { Command } from 'commander';
import { loadBenchConfig } from '../bench/load-config.ts';
import type { QueueConnection } from '../store/queue/queue-connection.ts';
import { QueueReader } from '../store/queue/queue-reader.ts';
import { QueueStore } from '../store/queue/queue-store.ts';
import { printable, printableJson } from '../render/printable.ts';
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
  const runs = await runsOf(connection, run);
  if (config.json) process.stdout.write(printableJson({ queue: connection.address, runs }));
  else
    process.stdout.write(
      statusLines(connection.address, runs)
        .map((line) => `${printable(line)}\n`)
        .join(''),
    );
}

/** The run of that name, or all. */
async function runsOf(connection: QueueConnection, run: string | undefined): Promise<RunStatus[]> {
  const reader = new QueueReader(connection);
  const names = run === undefined ? await reader.names() : [run];
  const planned = await Promise.all(names.map((name) => reader.find(name)));
  if (planned.length === 0) return [];
  await using store = await QueueStore.open(connection, { creates: false });
  const runs: RunStatus[] = [];
  for (const one of planned) {
    runs.push({
      progress: await reader.progress(one, await store.open(one.id)),
      workers: (await reader.workers(one)).map(({ environment, probes: _, ...worker }) => {
        const { cpu, cores, platform, threads } = environment;
        return { ...worker, cpu, cores, platform, threads };
      }),
      failures: await reader.failures(one, FAILURES_AT_MOST),
    });
  }
  return runs;
}
