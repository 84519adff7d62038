import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { selectEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import type { BenchConfig, SuiteName } from '../config/bench-config.ts';
import { configOptions } from '../config/flags-from-schema.ts';
import { findRuns } from '../eval/analysis/results-from-stored-turns.ts';
import { mergeShards, type ShardFile } from '../eval/run/merge-run-parts.ts';
import { mergeQueue } from '../eval/run/queue/merge-queue.ts';
import { planDatasets, planQueuedRun, planUnits, unplannedSettings } from '../eval/run/queue/plan-queued-run.ts';
import { hashPlan, requireSameVersion, requireUnchanged } from '../eval/run/plan/compare-plans.ts';
import { workOnQueue } from '../eval/run/queue/work-on-queue.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { openDatabase } from '../store/database.ts';
import { QueueConnection } from '../store/queue/queue-connection.ts';
import { QueueReader, type QueuedRun } from '../store/queue/queue-reader.ts';
import { QueueWriter } from '../store/queue/queue-writer.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { exitCode, printResults, writeRunReport } from './bench.ts';
import { withInterrupt } from './with-interrupt.ts';
import { addConfigOptions, type Flags, withExamples } from './options.ts';
import { displayPath, printResult } from './output.ts';
import { ProgressDisplay } from './progress.ts';
import { openStoredRuns } from './stored-runs.ts';

const SHOWN_FAILURES = 10;

/** Options that a plan does not take: they concern one machine, or the judging and writing of results. */
// prettier-ignore
const UNPLANNED: readonly string[] = [
  ...unplannedSettings, 'resume', 'out', 'db', 'quiet', 'verbose', 'freshSelfTest', 'databaseEcho',
  'externalKv', 'sessions', 'recurrence', 'lengths', 'trace', 'traceRun', 'traceArm', 'replay', 'failBelow',
];

/** Options of a worker: they concern its machine; the plan holds all others. */
// prettier-ignore
const WORKER_OPTIONS = [
  'queue', 'run', 'dataset', 'dataFile', 'errata', 'model', 'embedder', 'preRetrieval', 'quiet', 'freshSelfTest',
  'engineUrl', 'allowRemote', 'slotsFolder', 'llamaServer', 'hot', 'cold',
] as const;

export function declare(command: Command): void {
  command.description('share a run among machines by a queue on PostgreSQL, and merge the parts of a run');
  withExamples(command, {
    'queue plan --queue postgres://bench@db/bench --run study --limit 200': 'puts the users of a run into the queue',
    'queue worker --queue postgres://bench@db/bench --run study': 'takes users from it until none is left',
    'queue merge --queue postgres://bench@db/bench --run study': 'merges the users that workers have stored',
    'queue merge 1.sqlite 2.sqlite --run mine': 'merges the databases of bench --shard',
  });
  const add = (name: string, description: string) => withExamples(command.command(name).description(description), {});
  const planned = configOptions().flatMap(({ key }) => (UNPLANNED.includes(key) ? [] : [key]));
  const plan = add('plan', 'put the users of a run into a queue, for workers on any machines');
  addConfigOptions(plan, planned).action((flags: Flags) => withInterrupt((signal) => planAndStore(flags, signal)));
  const worker = add('worker', 'take users of a planned run from a queue, until none is left');
  addConfigOptions(worker, WORKER_OPTIONS).action((flags: Flags) =>
    withInterrupt((signal) => work(flags, signal), {
      onCutShort: () => process.stderr.write('interrupted; another worker takes over its user\n'),
    }),
  );
  const status = add('status', 'show the runs of a queue: progress, workers, failures');
  addConfigOptions(status, ['queue', 'run', 'json']).action(showStatus);
  const merge = add('merge', 'merge the parts of a run into one complete run')
    .argument('[files...]', 'databases of the shards, each of bench --shard i/n; none with --queue')
    .requiredOption('--run <name>', 'name of the run, the same in all files');
  addConfigOptions(merge, ['queue', 'out', 'db', 'json', 'verbose']).action(mergeRunParts);
}

/** Opens the queue that `--queue` names. @throws BenchError `bad-option` without one, or for an invalid address */
function openQueue({ queue }: Pick<BenchConfig, 'queue'>): QueueConnection {
  if (queue !== undefined) return new QueueConnection(queue);
  throw new BenchError('bad-option', 'no queue is named', 'give --queue postgres://…, or DKI_BENCH_QUEUE');
}

async function planAndStore(flags: Flags, signal: AbortSignal): Promise<void> {
  const config = loadBenchConfig({ flags, arms: armRegistry });
  const [suite, another] = suitesNamed(config.suite);
  if (another !== undefined) {
    throw new BenchError('bad-option', '--suite names several suites', 'plan one run for each');
  }
  await using connection = openQueue(config);
  // Opened before a model is loaded, so that an unreachable server is reported at once.
  await using writer = await QueueWriter.open(connection, { creates: true });
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const name = config.run ?? `${suite!.name}-${time}`;
  const plan = await planQueuedRun({ suite: suite!, name }, config, selectEngine, { signal });
  const planId = hashPlan(plan);
  const units = planUnits(plan);
  const added = await writer.plan(planId, plan, units);
  const users = plan.plan.users.length;
  const turns = plan.plan.users.reduce((sum, user) => sum + user.turns, 0);
  printResult(config.json, { run: name, planId, users, turns, units: units.length, added }, () => [
    `run "${name}": ${users} users, ${turns} turns, plan ${planId.slice(0, 12)}`,
    added === units.length
      ? `${added} jobs put into the queue`
      : `planned before; ${added} jobs put into the queue again`,
    `start workers: npx dki-bench queue worker --queue … --run ${name}`,
  ]);
}

async function work(flags: Flags, signal: AbortSignal): Promise<void> {
  const named = loadBenchConfig({ flags });
  await using connection = openQueue(named);
  const planned = await new QueueReader(connection).find(named.run);
  const { plan } = planned;
  // Suites and settings depend on the version.
  requireSameVersion(plan);
  requireUnchanged(planned);
  const [suite] = suitesNamed([plan.suite as SuiteName]);
  const usesPlanned = suite!.data === undefined && !named.given.includes('dataset');
  const config = loadBenchConfig({ flags: usesPlanned ? { ...flags, dataset: planDatasets(plan).join(',') } : flags });
  await using writer = await QueueWriter.open(connection, { creates: false });
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const part = { writer, planned, suite: suite!, config };
  const done = await workOnQueue(part, selectEngine, { signal, ...display?.hooks });
  display?.[Symbol.dispose]();
  process.stdout.write(`run "${plan.name}": ${done.users} users, ${done.turns} turns stored by this worker\n`);
}

async function showStatus(flags: Flags): Promise<void> {
  const config = loadBenchConfig({ flags });
  await using connection = openQueue(config);
  const { address } = connection;
  const reader = new QueueReader(connection);
  const names = config.run === undefined ? await reader.names() : [config.run];
  if (names.length === 0) {
    const lines = [`${address} holds no run; plan one: dki-bench queue plan --queue …`];
    printResult(config.json, { queue: address, runs: [] }, () => lines);
    return;
  }
  const planned = await Promise.all(names.map((name) => reader.find(name)));
  await using writer = await QueueWriter.open(connection, { creates: false });
  const statuses = planned.map(async (run) => {
    const workers = (await reader.workers(run)).map(({ environment, probes: _, ...worker }) => {
      const { cpu, cores, platform, threads } = environment;
      return { ...worker, cpu, cores, platform, threads };
    });
    const progress = await reader.progress(run, await writer.count(run.id));
    return { progress, workers, failures: await reader.failures(run, SHOWN_FAILURES) };
  });
  const runs = await Promise.all(statuses);
  printResult(config.json, { queue: address, runs }, () =>
    runs.flatMap(({ progress, workers, failures }, index) => [
      ...(index === 0 ? [] : ['']),
      `${progress.name}: ${progressParts(progress).join(', ')}`,
      ...workers.map(
        ({ host, pid, state, users, turns, cpu, cores, threads }) =>
          `  ${host} (process ${pid}): ${state}; ${users} users, ${turns} turns; ${cpu}, ${cores} cores, ${threads} threads`,
      ),
      ...failures.map(
        ({ userId, host, reason, at }) =>
          `  failed at ${at.toISOString().slice(0, 19)} on ${host}: ${userId ?? 'the isolation probe'}: ${reason}`,
      ),
    ]),
  );
}

function progressParts(run: QueuedRun): string[] {
  const isStored = run.stored === run.users;
  return [
    `${run.stored} of ${run.users} users`,
    `${run.turns} of ${run.ofTurns} turns`,
    isStored && run.isProbed
      ? `complete: dki-bench queue merge --queue … --run ${run.name}`
      : `${run.underWay} under way`,
    ...(isStored && !run.isProbed ? ['the isolation probe is missing'] : []),
    ...(run.failed > 0 ? [`${run.failed} failed too often: plan the run again to retry them`] : []),
    `${(run.bytes / 2 ** 20).toFixed(1)} MiB`,
  ];
}

type MergeFlags = Flags & { readonly run: string };

async function mergeRunParts(files: readonly string[], { run, ...flags }: MergeFlags): Promise<void> {
  const config = loadBenchConfig({ flags });
  if (flags['queue'] !== undefined && files.length > 0) {
    throw new BenchError('bad-option', `--queue and ${files[0]!} both hold a run`, 'name files, or a queue');
  }
  if (files.length === 0 && config.queue === undefined) {
    const hint = 'name the files of shards, or --queue postgres://…';
    throw new BenchError('bad-option', 'nothing to merge', hint);
  }
  const merged = files.length === 0 ? [await mergeQueuedRun(run, config)] : mergeFiles(files, run, config);
  printResults(merged, config);
  for (const results of merged) await writeRunReport(config, results);
  process.exitCode = exitCode(merged);
}

async function mergeQueuedRun(run: string, config: BenchConfig): Promise<RunResults> {
  await using connection = openQueue(config);
  const reader = new QueueReader(connection);
  const planned = await reader.find(run);
  using target = openDatabase({ path: config.db });
  return await mergeQueue(target, reader, planned);
}

/** Merges the shards of a run, or of all suites under its name. */
function mergeFiles(files: readonly string[], run: string, { db }: Pick<BenchConfig, 'db'>): RunResults[] {
  const sources = files.map((file) => openStoredRuns(file, { readOnly: true }));
  try {
    const shards = sources.flatMap((database, index): ShardFile[] =>
      findRuns(database, run).map((record) => ({ file: displayPath(files[index]!), run: record, database })),
    );
    using target = openDatabase({ path: db });
    return [...Map.groupBy(shards, (shard) => shard.run.name).values()].map(([first, ...others]) =>
      mergeShards(target, [first!, ...others]),
    );
  } finally {
    for (const database of sources) database.close();
  }
}
