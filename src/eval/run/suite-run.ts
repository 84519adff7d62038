import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { openDatabase, type BenchDatabase } from '../../db/database.ts';
import { RunRepository } from '../../db/run-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import {
  gatingCalibrationOf,
  requireCalibrationFor,
  type GatingCalibration,
} from '../../embedding/gating-threshold.ts';
import { readGgufHeader } from '../../llm/gguf-header.ts';
import { checkModelFile } from '../../llm/model-check.ts';
import { modelFileOf } from '../../llm/model-file.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../systems/dki/dual-factor-gate.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { type AskedData, readAskedData } from '../dataset/asked-data.ts';
import { roomOf } from '../dataset/model-room.ts';
import { writeText } from '../dataset/write-lines.ts';
import type { RunResults } from '../results.ts';
import type { StoredConfig } from '../stored-results.ts';
import type { Suite } from '../suites/suite.ts';
import type { DatasetGenerator } from '../synthesis/dataset-generator.ts';
import { armsNamed } from './arms.ts';
import { drawUsers } from './draw-users.ts';
import { withFetchedModels } from './fetch-models.ts';
import { BenchParts, openBench, openRunRetriever, StoreFolder } from './open-bench.ts';
import { armsOfSuite, armsWithForms, requireAbility } from './model-ability.ts';
import type { BenchHooks } from './progress.ts';
import { RunLock } from './run-lock.ts';
import { checkSame, createRun, resumedConfig } from './run-record.ts';
import { RunSession } from './run-session.ts';
import { suiteOptions } from './suite-options.ts';

/** One suite under the name of its run. */
export interface SuiteRun {
  readonly suite: Suite;
  readonly name: string;
  /** The run to go on with, where it was begun before. */
  readonly begun: RunRow | undefined;
}

/**
 * Runs one suite, or goes on with it, and gives its results; every turn is stored as it is made.
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends the run
 */
export async function runSuite(
  { suite, name, begun }: SuiteRun,
  config: BenchConfig,
  hooks: BenchHooks = {},
): Promise<RunResults> {
  const started = performance.now();
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const options = begun === undefined ? suiteOptions(config, suite) : resumedConfig(config, begun);
  const settings = await withFetchedModels(options, { onProgress: hooks.onDownload, signal: hooks.signal });
  const stored = begun?.config as StoredConfig | undefined;
  const calibration = gatingCalibrationOf(settings.embedder);
  const modelPath = await modelFileOf(settings.model);
  checkModelFile(modelPath, process.availableMemory());
  const header = await readGgufHeader(modelPath);
  const ofSuite = armsOfSuite(suite, header, settings);
  const named = stored?.arms.map((arm) => arm.name) ?? settings.arms;
  const wanted = armsNamed(
    named ?? ofSuite.names,
    { alpha: settings.alpha, gatingThreshold: calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD },
    hooks.arms,
  );
  requireAbility(modelPath, header, wanted, settings);
  const folder = join(settings.out, name);
  // Data that are given are read before the heavy parts are opened: a mistake in them is found at once.
  const given = suite.data === undefined ? await readAskedData(settings.dataset) : undefined;
  await using parts = await BenchParts.open(settings, suite, wanted);
  const { arms, notRun } = armsWithForms(wanted, parts.model, settings, named === undefined);
  reserveFor(parts.model.info.contextTokens, settings.reserve);
  const dataset = given ?? (await madeData(suite.data!, folder, settings, parts));
  const users = drawUsers(dataset, settings.limit, settings.seed);
  if (begun !== undefined) await checkSame(begun, settings, dataset, parts);
  const gated = arms.some((arm) => arm.name === 'dki-gated');
  if (gated && calibration !== undefined) requireCalibrationFor(calibration, await parts.embeddings.info());
  const coldStartMs = performance.now() - started;

  // Only now is anything written: a mistake above leaves no trace.
  using database = openRuns(settings);
  const runs = new RunRepository(database);
  const run =
    begun ??
    (await createRun(
      runs,
      name,
      suite,
      settings,
      arms,
      named === undefined ? [...ofSuite.notRun, ...notRun] : [],
      dataset,
      users,
      parts,
    ));
  using _lock = new RunLock(folder, run.name);
  using stores = new StoreFolder(settings, folder);
  const retriever = await openRunRetriever(parts, settings, run.id, folder);
  await using _retriever = { [Symbol.asyncDispose]: () => retriever.close() };
  const bench = openBench(parts, retriever, stores, {
    config: settings,
    suite,
    runId: run.id,
    users,
    arms,
    database,
  });
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
    folder,
    openRetriever: (retriever, coldIndex = settings.coldIndex) => {
      // Each pays for its own vectors, whoever was asked before.
      parts.embeddings.clear();
      const place = join(folder, retriever);
      return openRunRetriever(parts, { ...settings, retriever, coldIndex }, `${run.id}/${retriever}`, place);
    },
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

/** Opens the database of the runs. */
export function openRuns({ db, databaseEcho }: BenchConfig): BenchDatabase {
  const echo = databaseEcho ? { echo: (sql: string) => void process.stderr.write(`${sql}\n`) } : {};
  return openDatabase({ path: db, ...echo });
}

/** The data of a suite that makes its own, which stand beside its report. */
async function madeData(
  data: readonly DatasetGenerator[],
  folder: string,
  { seed }: BenchConfig,
  { model }: BenchParts,
): Promise<AskedData> {
  const files: string[] = [];
  for (const { name, presetUsers, make } of data) {
    const file = join(folder, `${name}.jsonl`);
    await writeText(file, make(seed, presetUsers, roomOf(model)));
    files.push(file);
  }
  return readAskedData(files);
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
