import { join } from 'node:path';
import type { Command } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { QueueReader } from '../store/queue/queue-reader.ts';
import { runsNamed } from '../eval/analysis/stored-results.ts';
import { mergeQueue } from '../eval/run/queue/merge-queue.ts';
import { mergeShards, type RunPart } from '../eval/run/merge/merge.ts';
import type { RunResults } from '../store/records/results.ts';
import { printable, printableJson } from '../render/printable.ts';
import { storedOutcomes } from '../report/outcomes.ts';
import { writeReport } from '../report/report-files.ts';
import { renderSummary } from '../report/summary.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { pageOf } from './page.ts';
import { openQueue } from './queue-runs.ts';
import { openStoredRuns } from './stored-runs.ts';

interface MergeFlags {
  readonly run: string;
  readonly queue?: string;
  readonly out?: string;
  readonly db?: string;
  readonly json?: true;
}

/** Declares `merge`. */
export function declareMerge(command: Command): void {
  command
    .description('put the parts of a run together: the rows and results of one that was made whole')
    .argument('[files...]', 'databases of the shards, each of bench --shard i/n; none with --queue')
    .requiredOption('--run <name>', 'name of the run, the same in all files');
  addConfigOptions(command, ['queue', 'out', 'db', 'json']).action(
    async (files: readonly string[], flags: MergeFlags) => {
      process.exitCode = await merge(files, flags);
    },
  );
}

async function merge(files: readonly string[], { run, queue, out, db, json }: MergeFlags): Promise<number> {
  const config = loadBenchConfig({ flags: { queue, out, db, json } });
  if (queue !== undefined && files.length > 0) {
    throw new BenchError('bad-option', `--queue and ${files[0]!} both hold a run`, 'name files, or a queue');
  }
  const isQueued = files.length === 0;
  if (isQueued && config.queue === undefined) {
    throw new BenchError(
      'bad-option',
      'nothing to merge is named',
      'name the files of shards, or --queue postgres://…',
    );
  }
  const merged = isQueued ? [await mergedQueue(run, config)] : mergedFiles(files, run, config);
  if (config.json) process.stdout.write(printableJson(merged.length === 1 ? merged[0] : { runs: merged }));
  else process.stdout.write(merged.map((results) => renderSummary(results, pageOf(process.stdout))).join('\n\n'));
  const closing = config.json ? process.stderr : process.stdout;
  for (const results of merged) {
    const folder = join(config.out, results.run.name);
    using target = openDatabase({ path: config.db });
    await writeReport(folder, [results], storedOutcomes(target, results.run.id));
    closing.write(`\nreport: ${printable(shownPath(folder))}\n`);
  }
  const failed = merged.some(({ checks }) => checks.some(({ status }) => status === 'failed'));
  return failed ? exitCodes.checkFailed : exitCodes.ok;
}

async function mergedQueue(run: string, config: BenchConfig): Promise<RunResults> {
  await using connection = openQueue(config);
  const reader = new QueueReader(connection);
  const planned = await reader.find(run);
  using target = openDatabase({ path: config.db });
  return await mergeQueue(target, reader, planned);
}

/** The shards of a run, or of all suites that were made under its name. */
function mergedFiles(files: readonly string[], run: string, { db }: Pick<BenchConfig, 'db'>): RunResults[] {
  const sources: BenchDatabase[] = [];
  try {
    const shards: RunPart[] = [];
    for (const file of files) {
      const database = openStoredRuns(file, { readOnly: true });
      sources.push(database);
      for (const record of runsNamed(database, run)) shards.push({ file: shownPath(file), run: record, database });
    }
    using target = openDatabase({ path: db });
    return [...Map.groupBy(shards, (shard) => shard.run.name).values()].map(([first, ...others]) =>
      mergeShards(target, [first!, ...others]),
    );
  } finally {
    for (const database of sources) database.close();
  }
}
