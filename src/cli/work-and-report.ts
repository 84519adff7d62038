import { join } from 'node:path';
import { loadBenchConfig } from '../bench/load-config.ts';
import { QueueReader } from '../store/queue/queue-reader.ts';
import { QueueStore } from '../store/queue/queue-store.ts';
import { datasetsOf } from '../eval/run/queue/plan-run.ts';
import { requireSameVersion, requireUnchanged } from '../eval/run/plan/same-plan.ts';
import { WorkerFolder } from '../eval/run/queue/worker-folder.ts';
import { workOnQueue } from '../eval/run/queue/work-on-queue.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { composeEngine } from '../bench/compose.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { interruptible } from './interruption.ts';
import { ProgressDisplay } from './progress.ts';
import { openQueue } from './queue-runs.ts';

type Flags = Readonly<Record<string, string>>;

/** Takes part in the run that the flags name, and gives the exit code. */
export async function workAndReport(flags: Flags): Promise<number> {
  const controller = new AbortController();
  try {
    const onInterrupt = (): void => undefined;
    return await interruptible(
      controller,
      () => work(flags, controller.signal),
      onInterrupt,
      exitCodes.interrupted,
      () => process.stderr.write('interrupted; its user is asked by another worker\n'),
    );
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    process.stderr.write('interrupted; its user is asked by another worker\n');
    return exitCodes.interrupted;
  }
}

async function work(flags: Flags, signal: AbortSignal): Promise<number> {
  const named = loadBenchConfig({ flags });
  await using connection = openQueue(named);
  const planned = await new QueueReader(connection).find(named.run);
  const { plan } = planned;
  // Suites and settings are those of one version.
  requireSameVersion(plan);
  requireUnchanged(planned);
  const [suite] = suitesNamed([plan.suite as (typeof named.suite)[number]]);
  const own = suite!.data === undefined && !named.given.includes('dataset');
  const config = loadBenchConfig({ flags: own ? { ...flags, dataset: datasetsOf(plan).join(',') } : flags });
  await using store = await QueueStore.open(connection, { creates: false });
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  using folder = new WorkerFolder(join(config.out, plan.name), plan.name);
  const done = await workOnQueue({ store, planned, suite: suite!, config, folder: folder.path }, composeEngine, {
    signal,
    ...(display === undefined
      ? {}
      : { onProgress: display.show, onNote: display.note, onDownload: display.showDownload }),
  });
  display?.[Symbol.dispose]();
  process.stdout.write(`run "${plan.name}": ${done.users} users, ${done.turns} turns stored by this worker\n`);
  return exitCodes.ok;
}
