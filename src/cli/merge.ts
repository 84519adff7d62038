import { join } from 'node:path';
import type { Command } from 'commander';
import { loadBenchConfig } from '../config/load-config.ts';
import type { BenchDatabase } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { type OpenShard, mergeShards } from '../eval/run/merge/merge-shards.ts';
import { runsNamed } from '../eval/analysis/stored-results.ts';
import type { RunResults } from '../records/results.ts';
import { groupBy } from '../config/group-by.ts';
import { printable, printableJson } from '../report/render/printable.ts';
import { writeReport } from '../report/report-files.ts';
import { renderSummary } from '../report/summary.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { pageOf } from './page.ts';
import { openStoredRuns } from './stored-runs.ts';

interface MergeFlags {
  readonly run: string;
  readonly out?: string;
  readonly db?: string;
  readonly json?: true;
}

/** Declares `merge`. */
export function declareMerge(command: Command): void {
  command
    .description('put the shards of a run together: the rows and results of one that was made whole')
    .argument('<files...>', 'databases of the shards, each of bench --shard i/n')
    .requiredOption('--run <name>', 'name of the run, the same in all files');
  addConfigOptions(command, ['out', 'db', 'json']).action(async (files: readonly string[], flags: MergeFlags) => {
    process.exitCode = await merge(files, flags);
  });
}

async function merge(files: readonly string[], { run, out, db, json }: MergeFlags): Promise<number> {
  const config = loadBenchConfig({ flags: { out, db, json } });
  const sources: BenchDatabase[] = [];
  const merged: RunResults[] = [];
  try {
    const shards: OpenShard[] = [];
    for (const file of files) {
      const database = openStoredRuns(file, { readOnly: true });
      sources.push(database);
      for (const record of runsNamed(database, run)) shards.push({ file: shownPath(file), run: record, database });
    }
    using target = openDatabase({ path: config.db });
    for (const ofSuite of groupBy(shards, (shard) => shard.run.name).values()) {
      const [first, ...others] = ofSuite;
      merged.push(mergeShards(target, [first!, ...others]));
    }
  } finally {
    for (const database of sources) database.close();
  }
  if (config.json) process.stdout.write(printableJson(merged.length === 1 ? merged[0] : { runs: merged }));
  else process.stdout.write(merged.map((results) => renderSummary(results, pageOf(process.stdout))).join('\n\n'));
  const closing = config.json ? process.stderr : process.stdout;
  for (const results of merged) {
    const folder = join(config.out, results.run.name);
    await writeReport(folder, [results]);
    closing.write(`\nreport: ${printable(shownPath(folder))}\n`);
  }
  const failed = merged.some(({ checks }) => checks.some(({ status }) => status === 'failed'));
  return failed ? exitCodes.checkFailed : exitCodes.ok;
}
