import type { BenchConfig } from '../config/bench-config.ts';
import { openDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import { reserveFor } from '../systems/prompt/build-prompt.ts';
import { readDataset } from './dataset/reader.ts';
import type { RunResults } from './results.ts';
import { armsNamed, MAIN_ARMS } from './run/arms.ts';
import { drawUsers } from './run/draw-users.ts';
import { BenchParts, openBench, StoreFolder } from './run/open-bench.ts';
import type { BenchHooks } from './run/progress.ts';
import { checkSame, createRun, decisive, findResumable } from './run/run-record.ts';
import { RunSession } from './run/run-session.ts';
import type { StoredConfig } from './stored-results.ts';

/**
 * Runs a suite, or goes on with one that was ended, and gives its results; every turn is stored as it is made.
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends the run
 */
export async function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults> {
  const started = performance.now();
  const progress = hooks.onProgress ?? (() => undefined);
  progress({ phase: 'load', done: 0, total: 1 });
  const echo = config.databaseEcho ? { echo: (sql: string) => void process.stderr.write(`${sql}\n`) } : {};
  using database = openDatabase({ path: config.db, ...echo });
  const runs = new RunRepository(database);
  const resumed = config.resume === undefined ? undefined : findResumable(runs, config.resume);
  const settings: BenchConfig =
    resumed === undefined ? config : { ...config, ...decisive(resumed.config as BenchConfig) };
  const names =
    resumed === undefined ? (config.arms ?? MAIN_ARMS) : (resumed.config as StoredConfig).arms.map((arm) => arm.name);
  const arms = armsNamed(names, hooks.arms);
  const dataset = await readDataset(settings.dataset);
  const users = drawUsers(dataset, settings.limit, settings.seed);
  await using parts = await BenchParts.open(settings, arms);
  const coldStartMs = performance.now() - started;
  reserveFor(parts.model.info.contextTokens, settings.reserve);
  if (resumed !== undefined) checkSame(resumed, dataset, parts);

  const run = resumed ?? (await createRun(runs, settings, arms, dataset, users, parts));
  using stores = new StoreFolder(settings);
  const notes = parts.backend.passedOver.map(({ name, reason }) => `vector backend ${name} passed over: ${reason}`);
  if (stores.shared) {
    notes.push('K/V store shared by users and runs (--kv-store): hit rates are not those of a fresh user');
  }
  const bench = openBench(parts, stores, {
    config: settings,
    runId: run.id,
    dataset,
    users,
    arms,
    database,
    warn: () => undefined,
  });
  const session = new RunSession(database, run, bench, { notes, coldStartMs, started });
  try {
    return await session.finish(settings, hooks);
  } catch (error) {
    if (hooks.signal?.aborted) runs.update(run.id, { status: 'interrupted' });
    throw error;
  }
}
