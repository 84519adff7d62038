import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { openDatabase, type BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { gatingCalibrationOf, requireCalibrationFor, type GatingCalibration } from '../embedding/gating-threshold.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../systems/dki/dual-factor-gate.ts';
import { reserveFor } from '../systems/prompt/build-prompt.ts';
import { readDataset } from './dataset/reader.ts';
import type { RunResults } from './results.ts';
import { armsNamed, MAIN_ARMS } from './run/arms.ts';
import { drawUsers } from './run/draw-users.ts';
import { BenchParts, openBench, StoreFolder } from './run/open-bench.ts';
import type { BenchHooks } from './run/progress.ts';
import { RunLock } from './run/run-lock.ts';
import { checkSame, createRun, findResumable, noSuchRun, resumedConfig } from './run/run-record.ts';
import { RunSession } from './run/run-session.ts';
import type { StoredConfig } from './stored-results.ts';

/**
 * Runs a suite, or goes on with one that was ended, and gives its results; every turn is stored as it is made.
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends the run
 */
export async function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults> {
  const started = performance.now();
  hooks.onProgress?.({ phase: 'load', done: 0, total: 1 });
  const resumed = config.resume === undefined ? undefined : runToResume(config, config.resume);
  const settings = resumed === undefined ? config : resumedConfig(config, resumed);
  const stored = resumed?.config as StoredConfig | undefined;
  const calibration = gatingCalibrationOf(settings.embedder);
  const arms = armsNamed(
    stored?.arms.map(({ name }) => name) ?? config.arms ?? MAIN_ARMS,
    { alpha: settings.alpha, gatingThreshold: calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD },
    hooks.arms,
  );
  const dataset = await readDataset(settings.dataset);
  const users = drawUsers(dataset, settings.limit, settings.seed);
  await using parts = await BenchParts.open(settings, arms);
  reserveFor(parts.model.info.contextTokens, settings.reserve);
  if (resumed !== undefined) await checkSame(resumed, dataset, parts);
  const gated = arms.some(({ name }) => name === 'dki-gated');
  if (gated && calibration !== undefined) requireCalibrationFor(calibration, await parts.embeddings.info());
  const coldStartMs = performance.now() - started;

  // Only now is anything written: a mistake above leaves no trace.
  using database = open(settings);
  const runs = new RunRepository(database);
  const run = resumed ?? (await createRun(runs, settings, arms, dataset, users, parts));
  const folder = join(settings.out, run.name);
  using _lock = new RunLock(folder, run.name);
  using stores = new StoreFolder(settings, folder);
  const bench = openBench(parts, stores, { config: settings, runId: run.id, dataset, users, arms, database });
  const notes = [
    ...runNotes(parts, stores, run),
    ...(gated ? [gatingNote(calibration)] : []),
    ...(settings.alpha === 1 ? [] : [`values of injected memories multiplied by ${settings.alpha} (--alpha)`]),
  ];
  const session = new RunSession(database, run, bench, {
    notes,
    coldStartMs,
    modelLoadMs: parts.modelLoadMs,
    started,
  });
  try {
    return await session.finish(settings, hooks);
  } catch (error) {
    if (hooks.signal?.aborted) runs.update(run.id, { status: 'interrupted' });
    throw error;
  } finally {
    // In a store that stays, the K/V of a last turn would stay as well.
    for (const { system } of bench.arms) await system[Symbol.asyncDispose]();
  }
}

function open({ db, databaseEcho }: BenchConfig): BenchDatabase {
  const echo = databaseEcho ? { echo: (sql: string) => void process.stderr.write(`${sql}\n`) } : {};
  return openDatabase({ path: db, ...echo });
}

function runToResume(config: BenchConfig, name: string): RunRow {
  if (!existsSync(config.db)) throw noSuchRun(name, []);
  using database = open(config);
  return findResumable(new RunRepository(database), name);
}

function gatingNote(calibration: GatingCalibration | undefined): string {
  return calibration === undefined
    ? `dki-gated injects above a relevance of ${PAPER_RELEVANCE_THRESHOLD}, the paper's: the embedder has no card`
    : `dki-gated injects above a relevance of ${calibration.gatingThreshold}, of the embedder's card`;
}

/** What a reader must know of how the run was made. */
function runNotes(parts: BenchParts, stores: StoreFolder, run: RunRow): string[] {
  const { gitDirty } = run.environment as { readonly gitDirty: boolean | null };
  return [
    // Two ways to one FAISS: only where it is another library there is something to say.
    ...(parts.backend.backend.name.startsWith('faiss')
      ? []
      : parts.backend.passedOver.map(({ name, reason }) => `vector backend ${name} passed over: ${reason}`)),
    ...(gitDirty === true ? ['the work tree had changes that are not in the commit'] : []),
    ...(stores.shared
      ? [
          'K/V store shared by users and runs (--kv-store): hit rates are not those of a fresh user, ' +
            'and rag-cached, which keeps its list of prompts in memory, starts empty in each process',
        ]
      : []),
  ];
}
